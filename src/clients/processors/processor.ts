/** The interface of a payment processor. Each one is a file in this folder. */

/** `PROCESSING`: undecided, such as an asynchronous capture or unconfirmed coins. */
export type PaymentState = 'PENDING' | 'REQUIRES_ACTION' | 'AUTHORIZED' | 'PROCESSING' | 'CAPTURED' | 'FAILED' | 'VOIDED'

/** Further references of a payment: PayPal's `authorization` and `capture`, Tap's `charge`. */
export type References = Readonly<Record<string, string>>

/** The state of a payment at its processor. Amounts are minor units of the payment's currency. */
export type ProcessorPayment = {
  /** The processor's name for the payment. */
  readonly reference: string
  /** All further references known by now; undefined: none. */
  readonly references?: References
  readonly state: PaymentState
  readonly authorized: number
  readonly captured: number
  /** The refunded amount, including refunds made elsewhere; undefined if the processor does not report it. */
  readonly refunded?: number
  /** The processor's code of the failure: `card_declined`. */
  readonly failureCode?: string
  /** What the shopper's page needs to continue, as JSON. */
  readonly clientParameters?: Readonly<Record<string, unknown>>
}

export type NewPayment = {
  /** Our id. It makes a repeated request the same payment, where the processor supports that. */
  readonly paymentId: string
  readonly amount: number
  readonly currency: string
  /** The method of the checkout: `card`, `wallet`, `paypal`, `crypto`, or a local one such as `knet`. */
  readonly method?: string
  /** What the shopper's page got from the processor. */
  readonly token: string | undefined
  readonly returnUrl: string | undefined
  /** The URL for messages about this payment, for processors that are given it with each request (Tap, QPay). */
  readonly messagesUrl?: string
  /** Details that some processors require. */
  readonly shopper?: { readonly email?: string; readonly name?: string; readonly country?: string; readonly ip?: string }
}

/** Identifies a payment: by our id until the processor has given its reference. */
export type PaymentName = { readonly paymentId: string; readonly reference: string | undefined; readonly references?: References }

export type RefundAnswer = {
  /** The processor's name for the refund; undefined if none was made. */
  readonly reference: string | undefined
  /** `CLAIMABLE`: the shopper claims it at `claimUrl`. */
  readonly state: 'PENDING' | 'SUCCEEDED' | 'FAILED' | 'CLAIMABLE'
  readonly claimUrl?: string
  readonly failureCode?: string
}

/** Identifies a refund: by our id until the processor has given its reference. */
type RefundName = PaymentName & { readonly refundId: string; readonly refundReference: string | undefined }

/** What a processor guarantees. Durations in milliseconds; 0: never. */
export type Capabilities = {
  /**
   * Whether paying takes the money without a capture: there is no authorization, and a void forbids paying. A list
   * where it depends on the method.
   */
  readonly capturesItself: boolean | readonly string[]
  /** How long a repeated create under our id is the same payment. */
  readonly createRepeatsMs: number
  /** How long a repeated refund under our id is the same refund. */
  readonly refundRepeatsMs: number
  /**
   * Whether `retrieveRefund` finds every refund by our id alone, so that one it does not find was never made;
   * undefined: not known to.
   */
  readonly refundsFindable?: boolean
  /** Whether `retrieve` finds a payment by our id alone. */
  readonly findable: boolean
  /**
   * `any`: any number of partial refunds; `whole`: in full, and only card payments; `claim`: a claim that the shopper
   * redeems.
   */
  readonly refunds: 'any' | 'whole' | 'claim'
  /** Whether a succeeded refund may fail days later; undefined: not known to. */
  readonly refundsMayFail?: boolean
  /** Whether it takes Apple Pay and Google Pay tokens. */
  readonly wallets: boolean
  /** Whether a link to its own page is enough to pay, without its script on ours. */
  readonly hasHostedPage?: boolean
  /** Whether it can express this amount exactly. Decided before an order is placed. */
  supportsAmount(amount: { readonly amount: number; readonly currency: string }): boolean
  /**
   * Minimum charge per currency, in minor units; unknown for a missing currency. Only documented minimums, with the
   * source beside each table (today Stripe's). `supportsAmount` checks that an amount is at least one unit.
   */
  readonly minimums?: Readonly<Record<string, number>>
  /** Whether it can express any amount of a currency. */
  supportsCurrency(currency: string): boolean
}

/** The capabilities of the sandbox and of test processors: every request can be repeated, and any amount expressed. */
export const sandboxCapabilities: Capabilities = {
  capturesItself: false,
  createRepeatsMs: Number.POSITIVE_INFINITY,
  refundRepeatsMs: Number.POSITIVE_INFINITY,
  findable: true,
  refunds: 'any',
  wallets: true,
  supportsAmount: () => true,
  supportsCurrency: () => true,
}

/**
 * A processor's message. It is not believed: the processor is queried about its payment, since messages repeat, come
 * late and out of order.
 */
export type ProcessorMessage = {
  /** The processor's id of the message, or a digest of the signed bytes. A repeated message has the same one. */
  readonly id: string
  /** Undefined: about no payment. Some messages have only our id, some only the processor's. */
  readonly payment:
    | { readonly paymentId: string | undefined; readonly reference: string | undefined; readonly references?: References }
    | undefined
  /** Money that the shopper's bank reclaimed or returned. */
  readonly dispute?: {
    readonly reference: string
    readonly amount: number
    readonly currency: string
    readonly state: 'OPEN' | 'WON' | 'LOST'
  }
}

/**
 * A processor as one account sees it. Calls may be repeated with the same ids; `capabilities` say where that could
 * have a second effect. Every call throws ProcessorUnavailable when the outcome is unknown, and ProcessorRefused when
 * the processor refused.
 */
export type Processor = {
  readonly name: string
  /** Decided by the account's keys or host. */
  readonly mode: 'TEST' | 'LIVE'
  readonly capabilities: Capabilities
  /** The only accepted tokens, if there are few; undefined: the processor decides. */
  readonly tokens?: readonly string[]
  /** Starts a payment and authorizes it as far as possible without the shopper; never captures it. */
  create(payment: NewPayment): Promise<ProcessorPayment>
  /**
   * Queries a payment; undefined if the processor does not know it. Takes the steps that it needs from us, such as
   * PayPal's authorize after approval.
   */
  retrieve(name: PaymentName & { readonly amount: number; readonly currency: string }): Promise<ProcessorPayment | undefined>
  /** Captures a payment. PROCESSING if the capture is not decided yet. */
  capture(name: PaymentName & { readonly amount: number; readonly currency: string }): Promise<ProcessorPayment>
  /** Voids an authorization, or forbids paying. A captured payment is reported as captured. */
  void(name: PaymentName & { readonly amount: number; readonly currency: string }): Promise<ProcessorPayment>
  refund(
    refund: PaymentName & { readonly refundId: string; readonly amount: number; readonly currency: string; readonly whole: boolean },
  ): Promise<RefundAnswer>
  /** Queries a refund; undefined if the processor does not know it. */
  retrieveRefund(name: RefundName & { readonly amount: number; readonly currency: string }): Promise<RefundAnswer | undefined>
  /**
   * Reads a message by its raw bytes.
   * @param message `turn` is awaited before a call that verifies the message, since anyone can cause such calls; its
   *   result ends the turn
   * @throws BadSignature; errors of `turn`
   */
  readMessage(message: {
    readonly body: Uint8Array
    readonly headers: Headers
    readonly turn?: (() => Promise<() => void>) | undefined
  }): Promise<ProcessorMessage>
  /**
   * Checks that the processor answers and knows the account.
   * @throws ProcessorUnavailable; ProcessorRefused('credentials') for unknown keys
   */
  probe(): Promise<void>
}

/**
 * The processor gave no usable answer: it is unknown whether the request had an effect. Only an outage (timeout,
 * network error, 5xx) counts for the breaker, and only `call.ts`, `reachability.ts` and `withTimeout` report one.
 */
export class ProcessorUnavailable extends Error {
  override readonly name = 'ProcessorUnavailable'
  constructor(
    message: string,
    {
      cause,
      neverSent = false,
      counts = false,
    }: {
      readonly cause?: unknown
      /** Whether nothing happened for certain: refused connections, 401, 403, 429. */
      readonly neverSent?: boolean
      /** Whether the breaker counts it: a timeout, a network error or 5xx. */
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
 * The processor answered, but not as its API says: an unknown status, a missing field, no JSON, a redirect, another
 * payment. This concerns one payment. It shows that the processor is reachable, so it does not count for the circuit
 * breaker.
 */
export class UnknownAnswer extends ProcessorUnavailable {
  constructor(
    readonly what: string,
    options: { readonly cause?: unknown; readonly neverSent?: boolean } = {},
  ) {
    super(`unexpected answer: ${what}`, options)
  }
}

/** Returns the failure of a call that had to succeed before the request could be sent; undefined for other errors. */
export function notSentErrorOf(cause: unknown): ProcessorUnavailable | undefined {
  if (!(cause instanceof ProcessorUnavailable)) return undefined
  if (cause.neverSent) return cause
  const { message, counts } = cause
  return cause instanceof UnknownAnswer
    ? new UnknownAnswer(cause.what, { cause, neverSent: true })
    : new ProcessorUnavailable(message, { cause, neverSent: true, counts })
}

/**
 * Awaits a read that precedes a request which may not be repeated. If the read fails, the request was not sent.
 * @throws ProcessorUnavailable with `neverSent`; ProcessorRefused
 */
export const markNotSent = <Answer>(read: Promise<Answer>): Promise<Answer> =>
  read.catch((error: unknown) => {
    throw notSentErrorOf(error) ?? error
  })

/**
 * The processor refused this request: nothing happened. `code` is its reason. Not for an answer that says nothing
 * about the payment, such as 401, 403, 409 or 429: that is ProcessorUnavailable.
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

/**
 * Waits for an answer up to a time. A later answer is dropped; the job that queries payments finds it.
 * @param patienceMs milliseconds; undefined: no limit
 * @throws ProcessorUnavailable
 */
export function withTimeout<Answer>(patienceMs: number | undefined, answer: Promise<Answer>): Promise<Answer> {
  if (patienceMs === undefined) return answer
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new ProcessorUnavailable('the processor takes too long', { counts: true })), patienceMs)
  answer.catch(() => undefined)
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer))
}
