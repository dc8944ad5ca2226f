/** What every payment processor looks like from here. Each one is a file beside this one. */

export type PaymentState = 'PENDING' | 'REQUIRES_ACTION' | 'AUTHORIZED' | 'CAPTURED' | 'FAILED' | 'VOIDED'

/** What a processor says of a payment. Amounts are minor units of the payment's currency. */
export type ProcessorPayment = {
  /** Its name for the payment. */
  readonly reference: string
  readonly state: PaymentState
  readonly authorized: number
  readonly captured: number
  /** Why it failed, in the processor's word: `card_declined`. */
  readonly failureCode?: string
  /** What the shopper's page needs to go on. */
  readonly clientParameters?: Readonly<Record<string, string>>
}

export type NewPayment = {
  /** Ours; it makes the request one that may be sent again. */
  readonly paymentId: string
  readonly amount: number
  readonly currency: string
  /** What the shopper's page got from the processor. */
  readonly token: string | undefined
  readonly returnUrl: string | undefined
}

/** How to name a payment to its processor: by our id until it has told us its own. */
export type PaymentName = { readonly paymentId: string; readonly reference: string | undefined }

export type RefundAnswer = {
  /** Its name for the refund; undefined where it has made none. */
  readonly reference: string | undefined
  readonly state: 'PENDING' | 'SUCCEEDED' | 'FAILED'
  readonly failureCode?: string
}

/** How to name a refund to its processor: by our id until it has told us its own. */
export type RefundName = PaymentName & { readonly refundId: string; readonly refundReference: string | undefined }

/**
 * Every call may be made again with the same ids and has its effect once. All of them throw ProcessorUnavailable when the
 * outcome is not known, and ProcessorRefused when the processor understood and said no.
 */
export type Processor = {
  readonly name: string
  /** Whether shops in mode TEST may use it, and those in mode LIVE. */
  readonly modes: readonly ('TEST' | 'LIVE')[]
  /** The tokens it takes without asking, when there are only a few; undefined: it decides. */
  readonly tokens?: readonly string[]
  /** Begins a payment, authorized as far as it goes without the shopper; never captured. */
  create(payment: NewPayment): Promise<ProcessorPayment>
  /** What became of it; undefined when the processor never heard of it. */
  retrieve(name: PaymentName): Promise<ProcessorPayment | undefined>
  capture(name: PaymentName & { readonly amount: number; readonly currency: string }): Promise<ProcessorPayment>
  /** Gives an authorization up. Of a captured payment it answers that it is captured. */
  void(name: PaymentName): Promise<ProcessorPayment>
  refund(refund: PaymentName & { readonly refundId: string; readonly amount: number; readonly currency: string }): Promise<RefundAnswer>
  /** What became of a refund; undefined when the processor never heard of it. */
  retrieveRefund(name: RefundName): Promise<RefundAnswer | undefined>
  /**
   * The payment that a message is about; undefined for messages that are about none. What became of it is asked, not believed:
   * messages come twice, late and out of order.
   * @throws BadSignature
   */
  readWebhook(message: { readonly body: Uint8Array; readonly headers: Headers }): Promise<PaymentName | undefined>
  /** Whether it answers at all. */
  probe(): Promise<void>
}

/** Nothing came back, or something that says nothing: it may have happened. */
export class ProcessorUnavailable extends Error {
  override readonly name = 'ProcessorUnavailable'
  constructor(
    message: string,
    {
      cause,
      neverSent = false,
      counts = true,
    }: {
      readonly cause?: unknown
      /** Whether it is certain that nothing happened: refused connections, 401, 403, 429. */
      readonly neverSent?: boolean
      /** Whether it counts as a failure of the processor itself: time-outs, the network and 5xx do, and no 4xx does. */
      readonly counts?: boolean
    } = {},
  ) {
    super(message, { cause })
    this.neverSent = neverSent
    this.counts = counts
  }
  readonly neverSent: boolean
  readonly counts: boolean
}

/**
 * The processor understood and said no to this very thing: nothing happened. `code` is its word for why. Not for an answer that
 * says nothing of the payment, such as 401, 403, 409 or 429: that is ProcessorUnavailable.
 */
export class ProcessorRefused extends Error {
  override readonly name = 'ProcessorRefused'
  constructor(readonly code: string) {
    super(`the payment processor refused: ${code}`)
  }
}

/** The message does not come from the processor. */
export class BadSignature extends Error {
  override readonly name = 'BadSignature'
}
