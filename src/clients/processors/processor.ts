/** What every payment processor looks like from here. Each one is a file beside this one. */

/** `PROCESSING`: asked for or seen, and not decided yet: an asynchronous capture, coins that are not confirmed. */
export type PaymentState = 'PENDING' | 'REQUIRES_ACTION' | 'AUTHORIZED' | 'PROCESSING' | 'CAPTURED' | 'FAILED' | 'VOIDED'

/** A processor's further names for a payment, beside its first one: PayPal's `authorization` and `capture`, Tap's `charge`. */
export type References = Readonly<Record<string, string>>

/** What a processor says of a payment. Amounts are minor units of the payment's currency. */
export type ProcessorPayment = {
  /** Its name for the payment. */
  readonly reference: string
  /** All further names that it has by now; undefined: there are no others. */
  readonly references?: References
  readonly state: PaymentState
  readonly authorized: number
  readonly captured: number
  /** What went back, by whoever asked for it; undefined where it does not say. */
  readonly refunded?: number
  /** Why it failed, in the processor's word: `card_declined`. */
  readonly failureCode?: string
  /** What the shopper's page needs to go on, as JSON. */
  readonly clientParameters?: Readonly<Record<string, unknown>>
}

export type NewPayment = {
  /** Ours; it makes the request one that may be sent again, where the processor has such a thing. */
  readonly paymentId: string
  readonly amount: number
  readonly currency: string
  /** How the shopper pays, as the checkout says: `card`, `wallet`, `paypal`, `crypto`, or a local method such as `knet`. */
  readonly method?: string
  /** What the shopper's page got from the processor. */
  readonly token: string | undefined
  readonly returnUrl: string | undefined
  /** Where the processor's messages about this payment go, for those that are told with each request (Tap, QPay). */
  readonly messagesUrl?: string
  /** What some processors ask for. */
  readonly shopper?: { readonly email?: string; readonly name?: string; readonly country?: string; readonly ip?: string }
}

/** How to name a payment to its processor: by our id until it has told us its own. */
export type PaymentName = { readonly paymentId: string; readonly reference: string | undefined; readonly references?: References }

export type RefundAnswer = {
  /** Its name for the refund; undefined where it has made none. */
  readonly reference: string | undefined
  /** `CLAIMABLE`: the shopper fetches it at `claimUrl`. */
  readonly state: 'PENDING' | 'SUCCEEDED' | 'FAILED' | 'CLAIMABLE'
  readonly claimUrl?: string
  readonly failureCode?: string
}

/** How to name a refund to its processor: by our id until it has told us its own. */
export type RefundName = PaymentName & { readonly refundId: string; readonly refundReference: string | undefined }

/** What processors promise, and what each of them does not. Durations in milliseconds; 0: never. */
export type Capabilities = {
  /** Whether paying takes the money without us: there is no authorization, and to void is to forbid paying. By method where it differs. */
  readonly capturesItself: boolean | readonly string[]
  /** For how long a create that is sent again under our id is the same payment. */
  readonly createRepeatsMs: number
  /** For how long a refund that is sent again under our id is the same refund. */
  readonly refundRepeatsMs: number
  /** Whether `retrieve` finds a payment by our id alone. */
  readonly findable: boolean
  /** `any`: as many parts as there are; `whole`: all of it, and only what was paid by card; `claim`: a claim that the shopper redeems. */
  readonly refunds: 'any' | 'whole' | 'claim'
  /** Whether a refund that it said had succeeded may turn out to have failed days later; undefined: not as far as is known. */
  readonly refundsMayFail?: boolean
  /** Whether it takes the tokens of Apple Pay and Google Pay. */
  readonly wallets: boolean
  /** Whether whoever pays can be sent on by a link, without a script of the processor's on our page; undefined: not. */
  readonly hasHostedPage?: boolean
  /** Whether it can say this amount exactly: decided before anything is placed. */
  supportsAmount(amount: { readonly amount: number; readonly currency: string }): boolean
  /**
   * Minimum charge per currency, in minor units. A missing currency has no known minimum. Only documented minimums,
   * with the source beside each table. Only Stripe documents any; `says` checks that an amount is at least one unit of
   * the others.
   */
  readonly minimums?: Readonly<Record<string, number>>
  /** Whether it can say any amount of a currency. */
  supportsCurrency(currency: string): boolean
}

/** Of the sandbox, and of what plays a processor: each request has its effect once for ever, and any amount can be said. */
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

/** What a processor's message is about. What became of it is asked, not believed: messages come twice, late and out of order. */
export type ProcessorMessage = {
  /** The processor's own id of the message; a digest of what it signs where it has none. The same message has the same one. */
  readonly id: string
  /** Undefined: about no payment. Some messages tell our id only, and some the processor's only. */
  readonly payment:
    | { readonly paymentId: string | undefined; readonly reference: string | undefined; readonly references?: References }
    | undefined
  /** Money that the shopper's bank took back, or gave again. */
  readonly dispute?: {
    readonly reference: string
    readonly amount: number
    readonly currency: string
    readonly state: 'OPEN' | 'WON' | 'LOST'
  }
}

/**
 * A processor, as one account of it sees it. Calls may be made again with the same ids: where the processor does not make that have
 * its effect once, `capabilities` say so. All of them throw ProcessorUnavailable when the outcome is not known, and ProcessorRefused when
 * the processor understood and said no.
 */
export type Processor = {
  readonly name: string
  /** As the account's keys or its host say it. */
  readonly mode: 'TEST' | 'LIVE'
  readonly capabilities: Capabilities
  /** The tokens it takes without asking, when there are only a few; undefined: it decides. */
  readonly tokens?: readonly string[]
  /** Begins a payment, authorized as far as it goes without the shopper; never captured by us. */
  create(payment: NewPayment): Promise<ProcessorPayment>
  /** What became of it; undefined when the processor never heard of it. What it needs of us to go on (PayPal's authorize after approval) is done on the way. */
  retrieve(name: PaymentName & { readonly amount: number; readonly currency: string }): Promise<ProcessorPayment | undefined>
  /** Takes the money. PROCESSING where it was only asked for. */
  capture(name: PaymentName & { readonly amount: number; readonly currency: string }): Promise<ProcessorPayment>
  /** Gives an authorization up, or forbids paying. Of a captured payment it answers that it is captured. */
  void(name: PaymentName & { readonly amount: number; readonly currency: string }): Promise<ProcessorPayment>
  refund(
    refund: PaymentName & { readonly refundId: string; readonly amount: number; readonly currency: string; readonly whole: boolean },
  ): Promise<RefundAnswer>
  /** What became of a refund; undefined when the processor never heard of it. */
  retrieveRefund(name: RefundName & { readonly amount: number; readonly currency: string }): Promise<RefundAnswer | undefined>
  /**
   * Reads a message, by its raw bytes.
   * @param message its `turn` is waited for before a call is made to learn whether the message is good, which strangers can cause; what it
   *   gives ends the turn
   * @throws BadSignature; whatever `turn` throws
   */
  readMessage(message: {
    readonly body: Uint8Array
    readonly headers: Headers
    readonly turn?: (() => Promise<() => void>) | undefined
  }): Promise<ProcessorMessage>
  /** Whether it answers, and knows the account. @throws ProcessorUnavailable; ProcessorRefused('credentials') for keys that it does not know */
  probe(): Promise<void>
}

/**
 * The processor gave no usable answer: it is not known whether the request had an effect. Only an outage (timeout,
 * network error, 5xx) counts as a failure for the processor's circuit breaker, and only `call.ts`, `reachability.ts` and
 * `within` report one.
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
      /** Whether it is certain that nothing happened: refused connections, 401, 403, 429. */
      readonly neverSent?: boolean
      /** Whether the circuit breaker counts it as a failure of the processor: a timeout, a network error or 5xx. */
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

/** The failure of a call that had to succeed before the request could be sent; undefined for other errors. */
export function notSent(cause: unknown): ProcessorUnavailable | undefined {
  if (!(cause instanceof ProcessorUnavailable)) return undefined
  if (cause.neverSent) return cause
  const { message, counts } = cause
  return cause instanceof UnknownAnswer
    ? new UnknownAnswer(cause.what, { cause, neverSent: true })
    : new ProcessorUnavailable(message, { cause, neverSent: true, counts })
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

/**
 * Waits for an answer so long and no longer: what comes after it is nobody's, and whoever watches the payment finds it.
 * @param patienceMs milliseconds; undefined: as long as it takes
 * @throws ProcessorUnavailable
 */
export function withTimeout<Answer>(patienceMs: number | undefined, answer: Promise<Answer>): Promise<Answer> {
  if (patienceMs === undefined) return answer
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new ProcessorUnavailable('the processor takes too long', { counts: true })), patienceMs)
  answer.catch(() => undefined)
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer))
}
