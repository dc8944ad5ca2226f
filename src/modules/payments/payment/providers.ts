import type { Writer } from '../../../../db/engine.ts'
import type { Processor } from '../../../clients/processors/processor.ts'
import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import { createTurns } from '../../../lib/fair-queue.ts'
import { createTally } from '../../../lib/prometheus.ts'
import type { InstanceKeyDeps } from '../../identity/instance-key/index.ts'
import type { PaymentMethodDeps } from '../payment-method/index.ts'
import type { Payment } from './domain.ts'
import { createInboxStore } from './inbox-store.ts'
import { createPaymentStore } from './store.ts'

/** What payments need of others: who remembers what of orders, and the processors there are. */
type Given = Deps & {
  /** Called inside every write that changes what an order shows. */
  readonly orderChanged: (tx: Writer, orderId: string) => void
  readonly sandboxProcessor: Processor
}

/** Messages that processors are asked about at once before they are believed: strangers can send them, and the processors' limits are those of payments. */
const verifiedAtOnce = 4
/** A request is answered within 28 seconds, and the call itself may take ten of them. */
const turnWaitMaxMs = 10_000
/** More than get their turn by then; it bounds the memory. */
const turnsWaitingMax = 200
const usualVerificationMs = 500

const tooManyMessages = () => new AppError('UNAVAILABLE', 'Too many messages at once: send it again', { retryAfterSeconds: 5 })

/** @param processors besides the sandbox */
export function paymentProviders({ db, clock, orderChanged, sandboxProcessor }: Given, processors: readonly Processor[]) {
  const paymentCounts = createTally()
  /** Once the write is committed: what is run again is counted once. */
  const moved = (tx: Writer, { processor, method, mode, status, failureCode }: Payment) =>
    tx.afterCommit(() => paymentCounts.add(`${processor} ${method} ${mode} ${status} ${failureCode === 'not_answered' ? 'SILENT' : ''}`))
  return {
    /** Payments that this process has begun or moved on, by processor, method, mode, status, and whether it failed because nobody answered. */
    paymentCounts,
    /** For messages that cost a call before they are believed, by network and address of whoever sent them. */
    messageTurns: createTurns({
      atOnce: verifiedAtOnce,
      waitMaxMs: turnWaitMaxMs,
      waitingMax: turnsWaitingMax,
      usualMs: usualVerificationMs,
      now: clock.monotonic,
      full: tooManyMessages,
    }),
    paymentStore: createPaymentStore(db, orderChanged, moved),
    inboxStore: createInboxStore(db),
    /** By name. */
    processors: new Map([sandboxProcessor, ...processors].map((processor) => [processor.name, processor])) as ReadonlyMap<
      string,
      Processor
    >,
  }
}
export type PaymentDeps = InstanceKeyDeps & PaymentMethodDeps & ReturnType<typeof paymentProviders>
