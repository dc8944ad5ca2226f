import { BadSignature, type ProcessorMessage, ProcessorUnavailable, type References } from '../../../clients/processors/processor.ts'
import { AppError } from '../../../core/errors.ts'
import type { DueItem } from '../../../core/partitioned-queue.ts'
import { inBatches } from '../../../lib/batches.ts'
import { dayMs } from '../../../lib/day.ts'
import { networkOf } from '../../../lib/networks.ts'
import { sha256 } from '../../../lib/seal.ts'
import { isProcessorName } from '../payment-method/domain.ts'
import { accountsToVerify, type VerifyingAccount } from '../processor-account/index.ts'
import { isOpenOrWatched, type Payment } from './domain.ts'
import type { InboxMessage } from './inbox-store.ts'
import type { BoundProcessor } from './processors.ts'
import type { PaymentDeps } from './providers.ts'

/** A webhook as it was received: its target, and the raw bytes that were signed. */
export type IncomingWebhook = {
  readonly processor: string
  /** The shop of the account; undefined for the instance's own account. */
  readonly shopId: string | undefined
  readonly body: Uint8Array
  readonly headers: Headers
  /** The sender's address and the count of its bad messages within a minute, for limits. */
  readonly sender: string
  readonly bad: FailureCounter
}

/**
 * Counts failures of a sender. `wait` returns the seconds for which its messages are refused; undefined if they are
 * accepted.
 */
type FailureCounter = { wait(): number | undefined; count(): void }

const invalidSignatureError = () => new AppError('UNAUTHENTICATED', 'The signature is missing, or is not of a configured payment processor')
const signatureUncheckedError = () =>
  new AppError('UNAVAILABLE', 'The signature cannot be verified now. Send the message again', { retryAfterSeconds: 5 })

const tooManyFailuresError = (retryAfterSeconds: number) =>
  new AppError('RATE_LIMITED', 'Too many messages from this address had an invalid signature. Try again later', { retryAfterSeconds })

/**
 * An account (with one of its key sets), or a processor without accounts, that may have signed a message. `isLate`:
 * with old keys, only messages about open payments count.
 */
type Verifier = Pick<VerifyingAccount, 'processor' | 'isLate'> & {
  readonly accountId: string
  readonly breaker?: BoundProcessor['breaker']
}

async function verifiersOf(deps: PaymentDeps, { processor: name, shopId }: IncomingWebhook): Promise<Verifier[]> {
  if (!isProcessorName(name)) {
    // The sandbox, and other processors without accounts.
    const processor = shopId === undefined ? deps.processors.get(name) : undefined
    return processor ? [{ accountId: '', processor, isLate: false }] : []
  }
  const candidates = await accountsToVerify(deps, { shopId, processor: name })
  return candidates.map(({ account: { id: accountId, host }, ...verifier }) => ({
    accountId,
    breaker: { processor: name, host },
    ...verifier,
  }))
}

/** A verified message and the account whose secret matched. */
type VerifiedMessage = { readonly accountId: string; readonly message: ProcessorMessage }

/** Verifies a message by its raw bytes. If accounts share a secret, each gets the message. */
async function verifyMessage(deps: PaymentDeps, sent: IncomingWebhook): Promise<VerifiedMessage[]> {
  const verifiedMessages: VerifiedMessage[] = []
  let failure: unknown
  let wasProcessorCalled = false
  for (const { accountId, processor, isLate, breaker } of await verifiersOf(deps, sent)) {
    if (verifiedMessages.some((one) => one.accountId === accountId)) continue
    const turn = async () => {
      const end = await waitForVerification(deps, sent, breaker)
      wasProcessorCalled = true
      return end
    }
    try {
      const message = await processor.readMessage({ ...sent, turn })
      if (isLate && !(await isAboutOpenPayment(deps, sent, { accountId, message })))
        throw new BadSignature('made with keys that were replaced long ago, and not about an open payment')
      verifiedMessages.push({ accountId, message })
    } catch (error) {
      if (!(error instanceof BadSignature || error instanceof ProcessorUnavailable)) throw error
      if (!(failure instanceof ProcessorUnavailable)) failure = error
    }
  }
  if (verifiedMessages.length > 0) return verifiedMessages
  if (failure !== undefined) deps.log.warn('payment_message.not_verified', { processor: sent.processor, error: failure })
  if (failure instanceof ProcessorUnavailable) throw signatureUncheckedError()
  if (wasProcessorCalled) sent.bad.count()
  throw invalidSignatureError()
}

/** Waits until the processor may be asked whether a message is its own. Call the result to end the turn. */
async function waitForVerification(
  deps: PaymentDeps,
  { sender, bad }: IncomingWebhook,
  breaker: BoundProcessor['breaker'],
): Promise<() => void> {
  if (breaker && !deps.breakers.passes(breaker)) throw signatureUncheckedError()
  const end = await deps.messageTurns.acquire([networkOf(sender), sender])
  const wait = bad.wait()
  if (wait === undefined) return end
  end()
  throw tooManyFailuresError(wait)
}

async function isAboutOpenPayment(
  deps: PaymentDeps,
  { processor }: IncomingWebhook,
  { accountId, message: { payment } }: VerifiedMessage,
): Promise<boolean> {
  const found = await paymentOfMessage(deps, { processor, accountId, ...messageNames(payment) })
  return found !== undefined && isOpenOrWatched(found)
}

const nameMax = 255
/** A signed text still comes from outside: ids are short and printable. */
const isName = (text: string): boolean => text.length <= nameMax && /^[\x20-\x7e]+$/.test(text)
const nameOf = (text: string | undefined): string | null => (text !== undefined && isName(text) ? text : null)

const namesOf = (references: References | undefined): Record<string, string> | null => {
  const names = Object.entries(references ?? {}).filter(([name, value]) => isName(name) && isName(value))
  return names.length > 0 ? Object.fromEntries(names.slice(0, 10)) : null
}

/** Returns the valid names by which a message identifies its payment. */
const messageNames = (payment: ProcessorMessage['payment']): Pick<InboxMessage, 'paymentId' | 'reference' | 'references'> => ({
  paymentId: nameOf(payment?.paymentId),
  reference: nameOf(payment?.reference),
  references: namesOf(payment?.references),
})

/** Returns a dispute that can be stored; null for none, or one with invalid fields. */
function disputeOf({ dispute }: ProcessorMessage): InboxMessage['dispute'] {
  if (!dispute || !isName(dispute.reference) || !/^[A-Z]{3}$/.test(dispute.currency)) return null
  return Number.isSafeInteger(dispute.amount) && dispute.amount >= 0 ? dispute : null
}

/** Builds the row of a verified message. One that names no payment needs no processing. */
function rowOf(
  { newId, clock }: Pick<PaymentDeps, 'newId' | 'clock'>,
  { processor, shopId }: Pick<IncomingWebhook, 'processor' | 'shopId'>,
  { accountId, message }: VerifiedMessage,
): InboxMessage {
  const { id, payment } = message
  const now = clock.now()
  const names = messageNames(payment)
  const isAboutPayment = names.paymentId !== null || names.reference !== null || names.references !== null
  return {
    id: newId('paymentMessage'),
    processor,
    accountId,
    shopId: shopId ?? null,
    messageId: isName(id) ? id : `sha256:${sha256(id)}`,
    ...names,
    dispute: disputeOf(message),
    attempts: 0,
    resumeAt: isAboutPayment ? now : null,
    receivedAt: now,
  }
}

/**
 * Verifies a processor's message and stores it in the inbox, once. An unverified message writes nothing.
 * @returns the new messages that need processing
 * @throws AppError UNAUTHENTICATED when the processor is not set up or no account's signature matches; UNAVAILABLE
 *   when that cannot be checked now; RATE_LIMITED for a sender with too many bad messages to a processor that must
 *   verify each
 */
export async function receiveMessage(deps: PaymentDeps, sent: IncomingWebhook): Promise<InboxMessage[]> {
  const rows = (await verifyMessage(deps, sent)).map((verifiedMessages) => rowOf(deps, sent, verifiedMessages))
  return deps.db.write(async (tx) => {
    const newMessages: InboxMessage[] = []
    for (const row of rows) if ((await deps.inboxStore.insert(tx, row)) && row.resumeAt !== null) newMessages.push(row)
    return newMessages
  })
}

/** Lists messages due by `now`, up to a limit for each processor. */
export const dueMessages = ({ inboxStore }: PaymentDeps, now: number, limit: number): Promise<DueItem[]> => inboxStore.due(now, limit)

/** How long a run holds a message. After a crash another run takes it then. */
const takenMs = 2 * 60_000

/**
 * Takes a message that is due by `dueBy`.
 * @returns it with this attempt counted; undefined if another run has it or it is done
 */
export async function takeMessage({ db, clock, inboxStore }: PaymentDeps, id: string, dueBy: number): Promise<InboxMessage | undefined> {
  const message = await inboxStore.find(id)
  if (!message || message.resumeAt === null || message.resumeAt > dueBy) return undefined
  const leasedFields = { attempts: message.attempts + 1, resumeAt: clock.now() + takenMs }
  return (await db.write((tx) => inboxStore.change(tx, message, leasedFields))) ? { ...message, ...leasedFields } : undefined
}

/** Sets when a taken message is processed again; null: it is done. */
export const rescheduleMessage = async ({ db, inboxStore }: PaymentDeps, message: InboxMessage, resumeAt: number | null): Promise<void> =>
  void (await db.write((tx) => inboxStore.change(tx, message, { resumeAt })))

/**
 * Finds a message's payment among those of the account that verified it: by the processor's references, else by our
 * id.
 */
export async function paymentOfMessage(
  { paymentStore: store }: PaymentDeps,
  {
    processor,
    accountId,
    paymentId,
    reference,
    references,
  }: Pick<InboxMessage, 'processor' | 'accountId' | 'paymentId' | 'reference' | 'references'>,
): Promise<Payment | undefined> {
  const names = new Set([...(reference === null ? [] : [reference]), ...Object.values(references ?? {})])
  for (const name of names) {
    const payment = await store.findByReference({ processor, accountId, processorReference: name })
    if (payment) return payment
  }
  const payment = paymentId === null ? undefined : await store.find(paymentId)
  return payment?.processor === processor && payment.accountId === accountId ? payment : undefined
}

/** How long messages are kept: longer than any processor repeats one. */
const keptMs = 90 * dayMs
const removalBatch = 500

/** Removes messages older than the retention time. */
export async function forgetPaymentMessages({ db, clock, inboxStore }: PaymentDeps): Promise<void> {
  const before = clock.now() - keptMs
  await inBatches(removalBatch, () => db.write((tx) => inboxStore.removeOld(tx, before, removalBatch)))
}
