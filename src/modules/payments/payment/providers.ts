import type { Writer } from '../../../../db/engine.ts'
import type { Processor } from '../../../clients/processors/processor.ts'
import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import { createFairQueue } from '../../../core/limits/fair-queue.ts'
import { createTally } from '../../../lib/prometheus.ts'
import type { InstanceKeyDeps } from '../../identity/instance-key/index.ts'
import type { PaymentMethodDeps } from '../payment-method/index.ts'
import type { Payment } from './domain.ts'
import { createInboxStore } from './inbox-store.ts'
import { createPaymentStore } from './store.ts'

/** What payments need from other modules. */
type PaymentProviderDeps = Deps & {
  /** Called inside every write that changes what an order shows. */
  readonly orderChanged: (tx: Writer, orderId: string) => void
  readonly sandboxProcessor: Processor
}

/**
 * Concurrent verifications that call a processor. Anyone can cause them, and the processor's rate limit is shared with
 * payments.
 */
const verificationsMax = 4
/** A request is answered within 28 seconds, and the call itself may take ten. */
const turnWaitMaxMs = 10_000
/** Bounds the memory; no more get their turn in time. */
const turnsWaitingMax = 200
const usualVerificationMs = 500

const tooManyMessages = () => new AppError('UNAVAILABLE', 'Too many messages at once: send it again', { retryAfterSeconds: 5 })

/** @param processors besides the sandbox */
export function paymentProviders({ db, clock, orderChanged, sandboxProcessor }: PaymentProviderDeps, processors: readonly Processor[]) {
  const paymentCounts = createTally()
  /** After the commit, so that a retried write counts once. */
  const countPayment = (tx: Writer, { processor, method, mode, status, failureCode }: Payment) =>
    tx.afterCommit(() => paymentCounts.add(`${processor} ${method} ${mode} ${status} ${failureCode === 'not_answered' ? 'SILENT' : ''}`))
  return {
    /**
     * Payments that this process created or moved, by processor, method, mode, status and whether it failed without an
     * answer.
     */
    paymentCounts,
    /** Turns for messages that need a call to be verified, by the sender's network and address. */
    messageTurns: createFairQueue({
      atOnce: verificationsMax,
      waitMaxMs: turnWaitMaxMs,
      waitingMax: turnsWaitingMax,
      initialTurnMs: usualVerificationMs,
      now: clock.monotonic,
      full: tooManyMessages,
    }),
    paymentStore: createPaymentStore(db, orderChanged, countPayment),
    inboxStore: createInboxStore(db),
    /** By name. */
    processors: new Map([sandboxProcessor, ...processors].map((processor) => [processor.name, processor])) as ReadonlyMap<
      string,
      Processor
    >,
  }
}
export type PaymentDeps = InstanceKeyDeps & PaymentMethodDeps & ReturnType<typeof paymentProviders>
