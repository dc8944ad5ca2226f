import type { Writer } from '../../../../../db/engine.ts'
import type { PaymentChoice } from '../../../payments/payment/domain.ts'
import type { OrderEvent, OrderGiftCard, OrderLine, Saga } from '../domain.ts'
import type { OrderDeps } from '../providers.ts'
import type { FullOrder } from '../view.ts'

/** What a sale needs of an order and never changes. */
export type OrderContents = { readonly lines: readonly OrderLine[]; readonly giftCards: readonly OrderGiftCard[] }

/**
 * An order that this run placed, with all that it wrote. While no other write changes its rows, which `lockAsKnown`
 * detects, nothing of it must be read.
 */
export type PlacedOrder = Saga & OrderContents & { readonly events: readonly OrderEvent[] }

/** One run of the saga, started by a request, a webhook or the job. */
export type SagaContext = {
  /** The holder of its leases on payments and refunds. */
  readonly holder: string
  /** The run makes no call after this moment (milliseconds). The job continues. */
  readonly deadline?: number
  /** Ids of payments that this run created and no processor knows yet. */
  readonly unsentPayments: Set<string>
  /** Processors to try if the first one does not start the payment, in order. */
  readonly fallbacks?: PaymentChoice[] | undefined
  /** Whether a fallback was used. The request then has no time left for a full call. */
  hasFallenBack?: boolean
  /** The order, if this run placed it. */
  placedOrder?: PlacedOrder | undefined
  /** Stores the response of a request, in the write that confirms the order. */
  readonly storeResponse?: ((tx: Writer, sold: FullOrder) => Promise<void>) | undefined
}

/** Creates the context of a background run. */
export const newSagaContext = ({ newId }: Pick<OrderDeps, 'newId'>): SagaContext => ({
  holder: newId('attempt'),
  unsentPayments: new Set(),
})

/** A request is answered within 28 seconds, and one call may take long. */
const requestMs = 15_000

/**
 * Creates the context of a request.
 * @param holder the key of its attempt: a retry continues at once with the leases that it holds
 */
export const requestSagaContext = (
  { clock }: Pick<OrderDeps, 'clock'>,
  holder: string,
  storeResponse?: SagaContext['storeResponse'],
): SagaContext => ({
  holder,
  deadline: clock.now() + requestMs,
  unsentPayments: new Set(),
  fallbacks: [],
  storeResponse,
})
