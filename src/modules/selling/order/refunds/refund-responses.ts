import type { RefundAnswer } from '../../../../clients/processors/processor.ts'
import { dayMs } from '../../../../lib/day.ts'
import { backoffMs, mustBeReturned, type Refund } from '../domain.ts'

// What comes of what a processor says of a refund, or does not say: decided here, and done elsewhere.

/** `unheard`: it knows no such refund, and to tell it again might make another one. Undefined: nothing that can be relied on. */
export type Said = RefundAnswer | 'unheard' | undefined

/** What becomes of a refund. `again`: it has failed at a bank, and another one is begun in its place; `wait`: it is asked about again. */
export type Outcome =
  | { readonly kind: 'SUCCEEDED' | 'CLAIMABLE' }
  | { readonly kind: 'MANUAL' | 'FAILED' | 'again'; readonly code: string }
  /** `refused`: its processor said no, and may say otherwise later. */
  | { readonly kind: 'wait'; readonly refused?: string }

/** What is owed, and refused so often in a row, is refused for good. */
export const refusalsMax = 12
/** What is owed, and has failed at a bank so often, is not sent there again. */
export const bankFailuresMax = 3
/** A call whose answer was lost may still be at work: what a processor does not know by then it was never told. */
export const unheardMs = 60 * 60_000
/** The words for what a processor cannot do at all: no refund of that kind, or no such amount. */
const notSupported: readonly (string | undefined)[] = ['refund_not_supported', 'amount_not_supported']
const isNotSupported = (code: string | undefined): boolean => notSupported.includes(code)

type Asked = Pick<Refund, 'status' | 'purpose' | 'processorReference' | 'attempts' | 'failureCode' | 'sentAt' | 'createdAt'>

/**
 * What becomes of a refund by what its processor says.
 * @param failedBefore how many refunds of the same money have failed at a bank before it
 */
export function decideOutcome(refund: Asked, said: Said, { now, failedBefore }: { now: number; failedBefore: number }): Outcome {
  if (said === undefined) return { kind: 'wait' }
  if (said === 'unheard') return unheard(refund, now)
  const code = said.failureCode ?? 'refused'
  switch (refund.status) {
    case 'PENDING':
      if (said.state === 'PENDING') return { kind: 'wait' }
      return said.state === 'FAILED' ? outcomeOfFailure(refund, said, { code, failedBefore }) : { kind: said.state }
    case 'CLAIMABLE':
      if (said.state === 'SUCCEEDED') return { kind: 'SUCCEEDED' }
      // Nobody can redeem it any more, and the money is still to be paid.
      return said.state === 'FAILED' ? { kind: 'MANUAL', code } : { kind: 'wait' }
    case 'SUCCEEDED':
      // It came back from the shopper's bank.
      return said.state === 'FAILED' ? { kind: 'MANUAL', code } : { kind: 'wait' }
    case 'FAILED':
    case 'MANUAL':
      return { kind: 'wait' }
  }
}

/** Whether it was made there, and failed at a bank, is told by its name: a processor that refuses makes none. */
function outcomeOfFailure(
  refund: Asked,
  { reference }: RefundAnswer,
  { code, failedBefore }: { code: string; failedBefore: number },
): Exclude<Outcome, { kind: 'SUCCEEDED' | 'CLAIMABLE' }> {
  if (reference === undefined && isNotSupported(code)) return { kind: 'MANUAL', code }
  if (!mustBeReturned(refund)) return { kind: 'FAILED', code }
  if (reference === undefined) return outcomeOfRefusal(refund, code)
  return failedBefore + 1 < bankFailuresMax ? { kind: 'again', code } : { kind: 'MANUAL', code }
}

function unheard(refund: Asked, now: number): Outcome {
  if (refund.status !== 'PENDING' && refund.status !== 'CLAIMABLE') return { kind: 'wait' }
  // It had a name there: it is not forgotten by one answer.
  if (refund.processorReference !== null) return outcomeOfRefusal(refund, 'not_found')
  return refund.status === 'PENDING' && now - (refund.sentAt ?? refund.createdAt) >= unheardMs
    ? { kind: 'MANUAL', code: 'not_found' }
    : { kind: 'wait' }
}

const outcomeOfRefusal = (refund: Asked, code: string): Exclude<Outcome, { kind: 'SUCCEEDED' | 'CLAIMABLE' }> =>
  refusalsOf(refund) + 1 < refusalsMax ? { kind: 'wait', refused: code } : { kind: 'MANUAL', code }

/** How often in a row it was refused: silence in between does not count, and any other answer ends the row. */
const refusalsOf = ({ failureCode, attempts }: Pick<Refund, 'failureCode' | 'attempts'>): number => (failureCode === null ? 0 : attempts)

/** What is noted of a refund that is asked about again, and when that is. */
export function waitingFields(
  refund: Asked & Pick<Refund, 'updatedAt'>,
  { said, refused, now }: { said: Said; refused?: string | undefined; now: number },
): Pick<Refund, 'attempts' | 'failureCode' | 'resumeAt'> {
  const { status, attempts, failureCode } = refund
  if (status === 'SUCCEEDED') return { attempts, failureCode, resumeAt: nextWatchAt(refund.updatedAt, now) }
  const counted = countAttempt(refund, said, refused)
  const resumeAt = status === 'CLAIMABLE' ? nextClaimQueryAt(refund.createdAt, now) : now + backoffMs(counted.attempts)
  return { ...counted, resumeAt }
}

function countAttempt(refund: Asked, said: Said, refused: string | undefined): Pick<Refund, 'attempts' | 'failureCode'> {
  if (refused !== undefined) return { attempts: refusalsOf(refund) + 1, failureCode: refused }
  const isSilent = said === undefined || said === 'unheard'
  if (isSilent && refund.failureCode !== null) return { attempts: refund.attempts, failureCode: refund.failureCode }
  return { attempts: refund.attempts + 1, failureCode: null }
}

const hourMs = 60 * 60_000

/** When a claim is asked about again: after an hour at first, then ever more rarely, and once a day at least. */
export const nextClaimQueryAt = (createdAt: number, now: number): number => now + Math.min(dayMs, Math.max(hourMs, now - createdAt))

const watchMs = 7 * dayMs

/** When a refund that came through at `since` is asked about again where it may still fail: once a day for a week; null: no more. */
export const nextWatchAt = (since: number, now: number): number | null => (now + dayMs <= since + watchMs ? now + dayMs : null)

/**
 * What of the money that a processor says went back of a payment none of its refunds here accounts for. What was made there and failed may
 * still be in it, and what was paid by hand may be, too: what is not sure is not counted twice.
 */
export function unaccountedAmount(
  { id }: { readonly id: string },
  refunds: readonly Pick<Refund, 'paymentId' | 'status' | 'amount' | 'processorReference'>[],
  refunded: number,
): number {
  const known = refunds.filter(
    ({ paymentId, status, processorReference }) =>
      paymentId === id && (status === 'SUCCEEDED' || (status !== 'PENDING' && processorReference !== null)),
  )
  return Math.max(0, refunded - known.reduce((sum, { amount }) => sum + amount, 0))
}
