/**
 * Reads a pull payment of BTCPay Server: a refund that the shopper claims, at once or in parts, to their own wallet.
 */
import { createHash } from 'node:crypto'
import { decimalsOf } from '../../../lib/money.ts'
import { requireValue, textAt, valueAt } from '../answers.ts'
import { truncatedUnitsOf, unitsOf } from '../decimals.ts'
import type { RefundAnswer } from '../processor.ts'
import { UnknownAnswer } from '../processor.ts'
import { type ApiCall, type Money, readList, readObject, webAddress } from './calls.ts'

/** `archived` is undefined until it is queried. */
type Claim = { readonly id: string; readonly viewLink?: string | undefined; readonly archived?: boolean }

const states = ['AwaitingApproval', 'AwaitingPayment', 'InProgress', 'Completed', 'Cancelled']

/**
 * Finds the claim with our id.
 * @throws ProcessorUnavailable if its amount differs: no second one may be made
 */
export function claimNamed(claims: readonly unknown[], refundId: string, money: Money): Claim | undefined {
  const found = claims.find((claim) => textAt(claim, 'name') === refundId)
  return found === undefined ? undefined : readClaim(found, money)
}

/** Reads a claim that was just made. */
export function claimMade(answer: unknown, money: Money): RefundAnswer {
  const { id, viewLink } = readClaim(answer, money)
  return { reference: id, state: 'CLAIMABLE', claimUrl: requireValue(viewLink, 'claim link') }
}

/** Queries a claim; undefined if the server does not know it. */
export async function refundOfClaim(ask: ApiCall, claim: Claim, money: Money): Promise<RefundAnswer | undefined> {
  const path = `/pull-payments/${encodeURIComponent(claim.id)}`
  const payouts = readList(await ask('GET', `${path}/payouts`))
  if (!payouts) return undefined
  const reference = claim.id
  const done = payouts.filter((payout) => stateOf(payout) === 'Completed')
  if (sumOf(done, money) >= money.amount) return { reference, state: 'SUCCEEDED' }
  if (payouts.some((payout) => !['Completed', 'Cancelled'].includes(stateOf(payout)))) return { reference, state: 'PENDING' }
  // It is not fully claimed, or the claim was cancelled: it can be claimed if it still exists.
  const { viewLink, archived } = claim.archived === undefined ? await withLink(ask, path, claim, money) : claim
  if (archived) return { reference, state: 'FAILED', failureCode: 'archived' }
  return { reference, state: 'CLAIMABLE', ...(viewLink === undefined ? {} : { claimUrl: viewLink }) }
}

/** Reads the claim with its link, or returns it unchanged. */
async function withLink(ask: ApiCall, path: string, claim: Claim, money: Money): Promise<Claim> {
  const answer = await ask('GET', path)
  const found = readObject(answer)
  return answer.status === 404 ? claim : readClaim(found, money)
}

function readClaim(claim: unknown, { amount, currency }: Money): Claim {
  const id = requireValue(textAt(claim, 'id'), 'claim id')
  const stated = valueAt(claim, 'amount')
  const isOther = stated !== undefined && unitsOf(stated, decimalsOf(currency)) !== amount
  if (isOther || (valueAt(claim, 'currency') ?? currency) !== currency) throw new UnknownAnswer('a claim of another amount')
  return { id, viewLink: webAddress(textAt(claim, 'viewLink')), archived: valueAt(claim, 'archived') === true }
}

function stateOf(payout: unknown): string {
  const state = textAt(payout, 'state')
  if (state === undefined || !states.includes(state)) throw new UnknownAnswer("no payout's state")
  return state
}

/** The amount paid out, in the claim's currency. Servers before 2.0 name it differently; without it, all was paid. */
function sumOf(payouts: readonly unknown[], { amount, currency }: Money): number {
  const amounts = payouts.map((payout) => {
    if ((textAt(payout, 'originalCurrency') ?? currency) !== currency) return 0
    const stated = valueAt(payout, 'originalAmount') ?? valueAt(payout, 'amount')
    return stated === undefined ? amount : requireValue(truncatedUnitsOf(stated, decimalsOf(currency)), 'payout amount')
  })
  return amounts.reduce((sum, part) => sum + part, 0)
}

/** Returns the id of the first delivery, because a redelivery has its own id. Without an id, a digest of the bytes. */
export const messageIdOf = (message: unknown, body: Uint8Array): string =>
  textAt(message, 'originalDeliveryId') ?? textAt(message, 'deliveryId') ?? createHash('sha256').update(body).digest('hex')
