import type { Writer } from '../../../../../db/engine.ts'
import type { PaymentChoice } from '../../../payments/payment/domain.ts'
import type { OrderEvent, OrderGiftCard, OrderLine, Saga } from '../domain.ts'
import type { OrderDeps } from '../providers.ts'
import type { FullOrder } from '../view.ts'

/** What a sale needs of an order and never changes. */
export type OrderContents = { readonly lines: readonly OrderLine[]; readonly giftCards: readonly OrderGiftCard[] }

/** Who runs a saga: a request, a webhook or the job. */
export type SagaContext = {
  /** The holder of its leases on payments and refunds. */
  readonly holder: string
  /** The run makes no call after this moment (milliseconds). The job continues. */
  readonly deadline?: number
  /** Stores the response of a request, in the write that makes the sale; `isSure`: see `Claim`. */
  readonly response?: { readonly store: (tx: Writer, sold: FullOrder, isSure: boolean) => Promise<void> } | undefined
}

/** An order between two steps of a run, and what only the run knows. Each step returns it anew. */
export type SagaRun = Saga & {
  /** The payment that this run created and no processor knows yet. */
  readonly unsent?: UnsentPayment | undefined
  /**
   * The other rows of an order that this run placed. While no other write changes its rows, which `lockAsKnown`
   * detects, nothing of it must be read.
   */
  readonly placed?: (OrderContents & { readonly events: readonly OrderEvent[] }) | undefined
  /** The order whose response was stored. */
  readonly sold?: FullOrder
}

type UnsentPayment = {
  readonly id: string
  /** Processors to try if this one does not start the payment, in order. */
  readonly fallbacks: readonly PaymentChoice[]
  /** Whether this payment is a fallback. The request then has no time left for a full call. */
  readonly isFallback: boolean
}

/** Creates the context of a background run. */
export const newSagaContext = ({ newId }: Pick<OrderDeps, 'newId'>): SagaContext => ({ holder: newId('attempt') })

/** A request is answered within 28 seconds, and one call may take long. */
const requestMs = 15_000

/**
 * Creates the context of a request.
 * @param holder the key of its attempt: a retry continues at once with the leases that it holds
 */
export const requestSagaContext = ({ clock }: Pick<OrderDeps, 'clock'>, holder: string): SagaContext => ({
  holder,
  deadline: clock.now() + requestMs,
})
