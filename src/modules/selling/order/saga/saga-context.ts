import type { Writer } from '../../../../../db/engine.ts'
import type { PaymentChoice } from '../../../payments/payment/domain.ts'
import type { OrderEvent, OrderGiftCard, OrderLine, Saga } from '../domain.ts'
import type { OrderDeps } from '../providers.ts'
import type { FullOrder } from '../view.ts'

/** What of an order stays as it was placed, and a sale needs. */
export type OrderContents = { readonly lines: readonly OrderLine[]; readonly giftCards: readonly OrderGiftCard[] }

/**
 * An order that a run has made itself, with all that it has written of it. As long as nobody else has changed its rows, which a write finds out
 * by `lockAsKnown`, nothing of it needs to be read.
 */
export type Made = Saga & OrderContents & { readonly events: readonly OrderEvent[] }

/** One run of somebody who takes an order on: a request, a processor's message, the job. */
export type SagaContext = {
  /** By which it holds the leases of what it asks processors. */
  readonly holder: string
  /** From this moment on it begins no call any more: what is left is the job's. */
  readonly until?: number
  /** Payments that it has written down, and of which their processors cannot know yet. */
  readonly unsent: Set<string>
  /** The ways that are left to pay, should a processor not begin the payment: the next comes first. */
  readonly fallbacks?: PaymentChoice[] | undefined
  /** Whether one of them was taken: what is left of the request's time is not enough for a whole call. */
  hasFallenBack?: boolean
  /** The order that it goes on with, if it has made it. */
  made?: Made | undefined
  /**
   * Stores the answer of a request, in the write that makes the order a sale.
   * @param isSure nobody waits to know whether it could be: if not, the write throws NothingChanged
   */
  readonly keep?: ((tx: Writer, sold: FullOrder, isSure: boolean) => Promise<void>) | undefined
}

/** A run that nobody waits for. */
export const newSagaContext = ({ newId }: Pick<OrderDeps, 'newId'>): SagaContext => ({ holder: newId('attempt'), unsent: new Set() })

/** A request answers within 28 seconds, and one call may take long after this. */
const requestMs = 15_000

/**
 * The run of a request.
 * @param holder the key of its attempt: the same request sent again goes on at once with what it holds
 */
export const requestSagaContext = ({ clock }: Pick<OrderDeps, 'clock'>, holder: string, keep?: SagaContext['keep']): SagaContext => ({
  holder,
  until: clock.now() + requestMs,
  unsent: new Set(),
  fallbacks: [],
  keep,
})
