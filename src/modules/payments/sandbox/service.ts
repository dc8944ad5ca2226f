import { locking } from '../../../core/command-context.ts'
import type { Deps } from '../../../core/deps.ts'
import { hmac } from '../../../lib/seal.ts'
import type { InstanceKeys } from '../../identity/instance-key/index.ts'
import { behaviours, declineCode, type SandboxToken, sandboxTokens } from './domain.ts'
import type { SandboxPayment, SandboxStore } from './store.ts'

type SandboxDeps = Pick<Deps, 'db' | 'clock'> & { readonly instanceKeys: InstanceKeys; readonly sandboxStore: SandboxStore }

/** The reply of the sandbox: a status and a body, a broken connection, or none. */
type Reply = { status: number; body?: unknown } | 'break off' | 'hang'

/** Returns the signature key of the sandbox's webhooks. */
export const sandboxSignature = async ({ instanceKeys }: Pick<SandboxDeps, 'instanceKeys'>, body: string | Uint8Array): Promise<string> =>
  hmac({ bytes: await instanceKeys.of('SANDBOX_WEBHOOKS') }, body)

const view = ({ id, status, amount, currency, captured, refunded, token }: SandboxPayment) => ({
  id,
  status,
  amount,
  currency,
  authorized: status === 'AUTHORIZED' || status === 'CAPTURED' ? amount : 0,
  captured,
  refunded,
  ...(status === 'DECLINED' ? { failureCode: declineCode } : {}),
  ...(status === 'PENDING' && token === 'tok_action' ? { needsAction: true } : {}),
})

const notFound: Reply = { status: 404, body: { error: 'not_found' } }
const refuse = (error: string): Reply => ({ status: 422, body: { error } })

/**
 * Handles a request to the sandbox.
 * @param route method, collection and action: `POST payments capture`
 */
export async function sandboxReply(deps: SandboxDeps, route: string, id: string, body: Record<string, unknown>): Promise<Reply> {
  switch (route) {
    case 'GET health':
      return { status: 200 }
    case 'POST payments':
      return create(deps, body)
    case 'GET payments': {
      const payment = await deps.sandboxStore.find(id)
      return payment ? { status: 200, body: view(payment) } : notFound
    }
    case 'POST payments capture':
      return capture(deps, id, 'AUTHORIZED')
    case 'POST payments confirm':
      return capture(deps, id, 'PENDING')
    case 'POST payments void':
      return voidPayment(deps, id)
    case 'GET refunds':
      return (await deps.sandboxStore.findRefund(deps.db.read, id)) ? { status: 200, body: { id, status: 'SUCCEEDED' } } : notFound
    case 'POST refunds':
      return refund(deps, body)
    default:
      return notFound
  }
}

const isToken = (token: unknown): token is SandboxToken => sandboxTokens.some((one) => one === token)
const isAmount = (amount: unknown): amount is number => Number.isSafeInteger(amount) && Number(amount) > 0

async function create(
  { db, clock, sandboxStore: store }: SandboxDeps,
  { id, token, amount, currency }: Record<string, unknown>,
): Promise<Reply> {
  if (typeof id !== 'string' || typeof currency !== 'string' || !isAmount(amount)) return refuse('invalid_request')
  if (!isToken(token)) return refuse('unknown_token')
  const { becomes, creation } = behaviours[token]
  const row = { id, token, amount, currency, captured: 0, refunded: 0, status: becomes, createdAt: clock.now() }
  const isNew = await db.write((tx) => store.begin(tx, row), locking)
  // A repeated creation returns the first payment, whatever it asks for.
  const payment = isNew ? row : ((await store.find(id)) ?? row)
  return creation === 'hangs' ? 'hang' : { status: 201, body: view(payment) }
}

/** Captures a payment; a second capture returns the same. */
async function capture({ db, sandboxStore: store }: SandboxDeps, id: string, from: 'AUTHORIZED' | 'PENDING'): Promise<Reply> {
  const captured = await db.write((tx) => store.capture(tx, id, from), locking)
  const payment = captured ?? (await store.find(id))
  if (!payment) return notFound
  if (payment.status !== 'CAPTURED') return refuse(`payment_${payment.status.toLowerCase()}`)
  const lost =
    captured !== undefined && from === 'AUTHORIZED' && isToken(payment.token) && behaviours[payment.token].capture === 'breaks off'
  return lost ? 'break off' : { status: 200, body: view(payment) }
}

/** Voids a payment, also a declined one, since its shopper could retry. */
async function voidPayment({ db, sandboxStore: store }: SandboxDeps, id: string): Promise<Reply> {
  const payment = await db.write(async (tx) => {
    for (const from of ['AUTHORIZED', 'PENDING', 'DECLINED'] as const) await store.move(tx, id, from, { status: 'VOIDED' })
    return store.lock(tx, id)
  }, locking)
  return payment ? { status: 200, body: view(payment) } : notFound
}

async function refund({ db, clock, sandboxStore: store }: SandboxDeps, { id, paymentId, amount }: Record<string, unknown>): Promise<Reply> {
  if (typeof id !== 'string' || typeof paymentId !== 'string' || !isAmount(amount)) return refuse('invalid_request')
  const row = { id, paymentId, amount, createdAt: clock.now() }
  const made = await db.write(async (tx) => {
    // A concurrent repeat of the same refund waits here and then finds it.
    await store.lock(tx, paymentId)
    return (await store.findRefund(tx, id)) !== undefined || store.refund(tx, row)
  }, locking)
  return made ? { status: 201, body: { id, status: 'SUCCEEDED' } } : refuse('exceeds_captured')
}
