/** What a pull payment of BTCPay Server says of a refund: a claim that the shopper redeems, at once or in parts, into a wallet of theirs. */
import { createHash } from 'node:crypto'
import { decimalsOf } from '../../lib/money.ts'
import { needed, textAt, valueAt } from './answers.ts'
import { type ApiCall, listedBy, type Money, shownBy, webAddress } from './btcpay-calls.ts'
import { unitsOf, wholeUnitsOf } from './decimals.ts'
import type { RefundAnswer } from './processor.ts'
import { UnknownAnswer } from './processor.ts'

/** `archived` is undefined while it was not asked for. */
type Claim = { readonly id: string; readonly viewLink?: string | undefined; readonly archived?: boolean }

const states = ['AwaitingApproval', 'AwaitingPayment', 'InProgress', 'Completed', 'Cancelled']

/**
 * The claim among these that was made under our id.
 * @throws ProcessorUnavailable where it is of another amount: none may be made beside it
 */
export function claimNamed(claims: readonly unknown[], refundId: string, money: Money): Claim | undefined {
  const found = claims.find((claim) => textAt(claim, 'name') === refundId)
  return found === undefined ? undefined : readClaim(found, money)
}

/** A claim that was made just now. */
export function claimMade(answer: unknown, money: Money): RefundAnswer {
  const { id, viewLink } = readClaim(answer, money)
  return { reference: id, state: 'CLAIMABLE', claimUrl: needed(viewLink, 'claim link') }
}

/** What became of a claim; undefined where the server knows none of that id. */
export async function becomesOf(ask: ApiCall, claim: Claim, money: Money): Promise<RefundAnswer | undefined> {
  const path = `/pull-payments/${encodeURIComponent(claim.id)}`
  const payouts = listedBy(await ask('GET', `${path}/payouts`))
  if (!payouts) return undefined
  const reference = claim.id
  const done = payouts.filter((payout) => stateOf(payout) === 'Completed')
  if (sumOf(done, money) >= money.amount) return { reference, state: 'SUCCEEDED' }
  if (payouts.some((payout) => !['Completed', 'Cancelled'].includes(stateOf(payout)))) return { reference, state: 'PENDING' }
  // Nobody has claimed all of it, or what they claimed was cancelled: it can be claimed, if it is still there.
  const { viewLink, archived } = claim.archived === undefined ? await shown(ask, path, claim, money) : claim
  if (archived) return { reference, state: 'FAILED', failureCode: 'archived' }
  return { reference, state: 'CLAIMABLE', ...(viewLink === undefined ? {} : { claimUrl: viewLink }) }
}

/** The claim with its link. Where it is not shown it is what it was. */
async function shown(ask: ApiCall, path: string, claim: Claim, money: Money): Promise<Claim> {
  const answer = await ask('GET', path)
  const found = shownBy(answer)
  return answer.status === 404 ? claim : readClaim(found, money)
}

function readClaim(claim: unknown, { amount, currency }: Money): Claim {
  const id = needed(textAt(claim, 'id'), 'claim id')
  const told = valueAt(claim, 'amount')
  const isOther = told !== undefined && unitsOf(told, decimalsOf(currency)) !== amount
  if (isOther || (valueAt(claim, 'currency') ?? currency) !== currency) throw new UnknownAnswer('a claim of another amount')
  return { id, viewLink: webAddress(textAt(claim, 'viewLink')), archived: valueAt(claim, 'archived') === true }
}

function stateOf(payout: unknown): string {
  const state = textAt(payout, 'state')
  if (state === undefined || !states.includes(state)) throw new UnknownAnswer("no payout's state")
  return state
}

/** What was paid out, in the currency of the claim. Servers before 2.0 have another name for it; one that does not tell means all of it. */
function sumOf(payouts: readonly unknown[], { amount, currency }: Money): number {
  const amounts = payouts.map((payout) => {
    if ((textAt(payout, 'originalCurrency') ?? currency) !== currency) return 0
    const told = valueAt(payout, 'originalAmount') ?? valueAt(payout, 'amount')
    return told === undefined ? amount : needed(wholeUnitsOf(told, decimalsOf(currency)), 'payout amount')
  })
  return amounts.reduce((sum, part) => sum + part, 0)
}

/** A redelivery has an id of its own and names the first one. Whatever names itself by nothing is named by its bytes. */
export const messageIdOf = (message: unknown, body: Uint8Array): string =>
  textAt(message, 'originalDeliveryId') ?? textAt(message, 'deliveryId') ?? createHash('sha256').update(body).digest('hex')
