import type { mails, mailTexts, shopMail } from '../../../../db/schema/mail.ts'
import { dayMs, hourMs, minuteMs } from '../../../lib/day.ts'
import type { Money } from '../../../lib/money.ts'
import { addJitter } from '../../../lib/random.ts'
import type { OrderReturn } from '../../selling/order-return/domain.ts'

export type Mail = typeof mails.$inferSelect
export type ShopMail = typeof shopMail.$inferSelect
export type MailTexts = typeof mailTexts.$inferSelect

/** How mails refer to an order. */
export type OrderRef = { readonly orderId: string; readonly number: number }
/** An order line in a mail. */
export type MailLine = {
  readonly title: string
  readonly variantTitle: string
  readonly quantity: number
  readonly total?: Money | undefined
}
/** The details of an order in a mail. */
export type MailOrder = OrderRef & {
  readonly lines: readonly MailLine[]
  /** The number of lines left out. */
  readonly more: number
  readonly subtotal: Money
  readonly discountTotal: Money
  readonly shippingTotal: Money
  /** Tax added to prices, and tax included in prices. */
  readonly taxTotal: Money
  readonly taxIncluded: Money
  /** Part of `taxTotal`, or of `taxIncluded`; missing, like the next field, in mails that an earlier version queued. */
  readonly shippingTax?: Money
  readonly shippingTaxInclusive?: boolean
  readonly giftCardTotal: Money
  readonly total: Money
  readonly shippingMethod: string | null
}

/** What changed in an account. */
export type AccountChange = 'password' | 'email' | 'factorOn' | 'factorOff'

/** Data of each template. Tokens reach only the addressee: the row is sealed. */
export type MailData = {
  /** The order is confirmed. */
  'order-confirmed': { readonly order: MailOrder }
  /** The shopper pays outside souk. The order's number is known when the mail is sent. */
  'payment-instructions': {
    readonly order: Pick<OrderRef, 'orderId'> & { readonly number?: number }
    readonly amount: Money
    readonly method: string
    readonly instructions: string
  }
  /** A gift card that the addressee, or somebody for them, bought. `recipient` and `sender` are names. */
  gift_card: {
    readonly code: string
    readonly amount: Money
    readonly recipient: string | null
    readonly sender: string | null
    readonly message: string | null
  }
  /** Tells the shop's staff (`orderMails`) that an order is confirmed. Has no personal data of the shopper. */
  new_order: { readonly order: MailOrder }
  /** The payment failed while the shopper was not on the page. */
  'payment-failed': { readonly order: OrderRef; readonly amount: Money }
  /** Items were sent. Without `lines`: all of them. */
  'order-shipped': {
    readonly order: OrderRef
    readonly trackingNumber: string | null
    readonly carrier: string | null
    readonly lines?: readonly MailLine[]
  }
  'refund-made': { readonly order: OrderRef; readonly amount: Money; readonly giftCardAmount: Money }
  /** A return was requested, approved, rejected (`rejection`: the shop's reason) or received. */
  'return-updated': {
    readonly order: OrderRef
    readonly status: OrderReturn['status']
    readonly rejection: string | null
    readonly lines: readonly MailLine[]
  }
  /** A draft order that the addressee pays by its link. `more`: lines left out. */
  'order-draft': { readonly draftId: string; readonly lines: readonly MailLine[]; readonly more: number; readonly total: Money }
  /** A cart that was unchanged for hours. `contents` is added when the mail is sent. */
  'abandoned-cart': {
    readonly cartId: string
    /** The cart's version. A cart that has changed since is not mailed. */
    readonly updatedAt: number
    readonly contents?: { readonly token: string; readonly lines: readonly MailLine[]; readonly more: number; readonly total: Money }
  }
  /** A refund that the addressee must claim. */
  'refund-claim': { readonly order: OrderRef; readonly amount: Money; readonly claimUrl: string }
  /**
   * An account that the shop created. The addressee chooses a password with a PASSWORD_RESET token, created when the
   * mail is sent.
   */
  'account-claim': { readonly token?: string }
  /** The same on the addressee's request, see password-reset. */
  'password-reset': { readonly token?: string }
  /** With an EMAIL_VERIFY token. */
  'email-verify': { readonly token: string }
  /** With an INVITATION token. `role` as in the API. */
  invitation: { readonly token: string; readonly role: string; readonly invitedBy?: string | undefined }
  /** Warns the account's owner of a change. */
  'account-changed': { readonly what: AccountChange }
  /** Tests the delivery of mails. */
  test: Readonly<Record<never, never>>
}
export type MailTemplate = keyof MailData

/**
 * For each template: how long it is useful, whether a person is waiting for it, and the placeholders that edited texts
 * may use beside `shop`.
 */
export const mailTemplates = {
  'order-confirmed': { lifeMs: 3 * dayMs, isAwaited: false, placeholders: ['orderNumber', 'total'] },
  new_order: { lifeMs: 3 * dayMs, isAwaited: false, placeholders: ['orderNumber', 'total'] },
  'payment-instructions': { lifeMs: 3 * dayMs, isAwaited: false, placeholders: ['orderNumber', 'amount', 'method'] },
  // Nothing else has the code, so it is sent for as long as a mail server may be away.
  gift_card: { lifeMs: 14 * dayMs, isAwaited: false, placeholders: ['amount', 'recipient', 'sender'] },
  'payment-failed': { lifeMs: dayMs, isAwaited: false, placeholders: ['orderNumber', 'amount'] },
  'order-shipped': { lifeMs: 3 * dayMs, isAwaited: false, placeholders: ['orderNumber', 'trackingNumber', 'carrier'] },
  'refund-made': { lifeMs: 3 * dayMs, isAwaited: false, placeholders: ['orderNumber', 'amount'] },
  'return-updated': { lifeMs: 3 * dayMs, isAwaited: false, placeholders: ['orderNumber', 'statusText'] },
  'order-draft': { lifeMs: 3 * dayMs, isAwaited: false, placeholders: ['total'] },
  'abandoned-cart': { lifeMs: dayMs, isAwaited: false, placeholders: ['total'] },
  'refund-claim': { lifeMs: 3 * dayMs, isAwaited: false, placeholders: ['orderNumber', 'amount'] },
  'account-claim': { lifeMs: dayMs, isAwaited: true, placeholders: [] },
  'password-reset': { lifeMs: 30 * minuteMs, isAwaited: true, placeholders: [] },
  'email-verify': { lifeMs: 12 * hourMs, isAwaited: true, placeholders: [] },
  invitation: { lifeMs: dayMs, isAwaited: true, placeholders: ['role', 'invitedBy'] },
  'account-changed': { lifeMs: 3 * dayMs, isAwaited: false, placeholders: ['change'] },
  test: { lifeMs: hourMs, isAwaited: true, placeholders: [] },
} as const satisfies Record<MailTemplate, { lifeMs: number; isAwaited: boolean; placeholders: readonly string[] }>
/** The placeholders of a template beside `shop`. */
export type Placeholder<Template extends MailTemplate> = (typeof mailTemplates)[Template]['placeholders'][number]
/** Lists the names that the edited texts of a template may use. */
export const placeholdersOf = (template: MailTemplate): readonly string[] => ['shop', ...mailTemplates[template].placeholders]
export const templateNames = Object.keys(mailTemplates) as MailTemplate[]

export const mailLanguages = ['en', 'ar', 'mn'] as const
export type MailLanguage = (typeof mailLanguages)[number]
/** Returns whether mails exist in a language. Tags with a region, such as `en-GB`, do not count. */
export const isMailLanguage = (text: string): text is MailLanguage => (mailLanguages as readonly string[]).includes(text)

/** The length of a subject. */
export const subjectMax = 200
/** The number of addresses that get a mail for each order. */
export const orderMailsMax = 5

/** The mail about abandoned carts: whether a shop sends it, and after how many hours without a change. */
export type AbandonedCartMail = NonNullable<ShopMail['abandonedCartMail']>
export const abandonedCartMailDefault: AbandonedCartMail = { enabled: false, afterHours: 10 }
export const afterHoursMax = 7 * 24

/** The sealed content of a mail. */
export type MailContent<Template extends MailTemplate = MailTemplate> = { readonly to: string; readonly data: MailData[Template] }

/** Returns what the sealed content is bound to. */
export const mailSeal = (id: string): string => `mail/${id}`

/** Returns the lane of a mail. Mails that a person waits for have a lane of their own in each shop. */
export const laneOf = (shopId: string | null, template: MailTemplate): string =>
  `${shopId ?? 'instance'}/${mailTemplates[template].isAwaited ? 'awaited' : 'told'}`

/** Concurrent attempts per process. */
export const slotsMax = 8
/** Returns the slots of a lane while `free` are left: one lane gets half of all, and fewer as others come. */
export const laneSlots = (free: number): number => Math.max(1, free - 1)

/** The lane that an attempt belongs to. */
export type MailSlot = { readonly lane: string }
/** Returns whether a lane may start another attempt while others are in flight. */
export function hasSlot({ lane }: MailSlot, taken: readonly MailSlot[]): boolean {
  const free = slotsMax - taken.length
  return free > 0 && taken.filter((one) => one.lane === lane).length < laneSlots(free)
}

/**
 * Pause after each failed attempt; the last one repeats. Short at first for waiting people, then by RFC 5321 (4.5.4.1).
 */
export const retryPausesMs = [minuteMs, 5 * minuteMs, 15 * minuteMs, 30 * minuteMs, hourMs, 2 * hourMs, 4 * hourMs] as const
/** Pause when the server accepted nothing, which is not the mail's fault. */
const serverPauseMs = 15_000

/** The result of an attempt. `nobody`: no recipient (any more). `error` contains no address. */
export type Outcome =
  | { readonly result: 'sent' | 'nobody' }
  | { readonly result: 'refused' | 'later' | 'broken' | 'server' | 'internal'; readonly error: string }

type MailResult = Pick<Mail, 'status' | 'nextAt' | 'lastError'> & { attempts?: number; sealed?: null }

/**
 * Returns a mail's state after an attempt. Finished mails keep no personal data.
 * @param mail its `attempts` include this one
 * @param chance from 0 to 1
 */
export function afterAttempt(
  outcome: Outcome,
  { attempts, expiresAt }: Pick<Mail, 'attempts' | 'expiresAt'>,
  now: number,
  chance: number,
): MailResult {
  const endResultOf = (status: 'SENT' | 'FAILED' | 'DROPPED', lastError: string | null): MailResult => ({
    status,
    lastError,
    nextAt: now,
    sealed: null,
  })
  switch (outcome.result) {
    case 'sent':
      return endResultOf('SENT', null)
    case 'nobody':
      return endResultOf('DROPPED', null)
    case 'refused':
      return endResultOf('FAILED', outcome.error)
    case 'server':
      return { status: 'PENDING', attempts: attempts - 1, nextAt: now + addJitter(serverPauseMs, chance), lastError: outcome.error }
    case 'later':
    case 'broken':
    case 'internal': {
      const pause = retryPausesMs[Math.min(attempts, retryPausesMs.length) - 1] ?? retryPausesMs[0]
      const nextAt = now + addJitter(pause, chance)
      return nextAt < expiresAt ? { status: 'PENDING', nextAt, lastError: outcome.error } : endResultOf('FAILED', outcome.error)
    }
  }
}

/** Returns whether an attempt shows that the server fails; undefined if it shows nothing. */
export function isServerFailure({ result }: Outcome): boolean | undefined {
  if (result === 'server' || result === 'broken') return true
  return result === 'nobody' || result === 'internal' ? undefined : false
}

/** How long finished mails are kept, without their recipients. */
export const retentionMs = 30 * dayMs
