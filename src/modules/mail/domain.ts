import type { mails, shopMail } from '../../../db/schema/mail.ts'
import { dayMs } from '../../lib/day.ts'
import type { Money } from '../../lib/money.ts'

export type Mail = typeof mails.$inferSelect
export type ShopMail = typeof shopMail.$inferSelect

/** What an order's mails call it by. */
export type OrderRef = { readonly orderId: string; readonly number: number }
/** A line of an order, as a mail shows it. */
export type MailLine = {
  readonly title: string
  readonly variantTitle: string
  readonly quantity: number
  readonly total?: Money | undefined
}
/** All that the mail about an order shows of it. */
export type MailOrder = OrderRef & {
  readonly lines: readonly MailLine[]
  /** Lines that are not among these. */
  readonly more: number
  readonly subtotal: Money
  readonly discountTotal: Money
  readonly shippingTotal: Money
  /** On top of the prices, and in them. */
  readonly taxTotal: Money
  readonly taxIncluded: Money
  readonly giftCardTotal: Money
  readonly total: Money
  readonly shippingMethod: string | null
}

/** What each template says, besides the shop's own. Tokens are in nobody's hands but the addressee's: the row that holds one is sealed. */
export type MailData = {
  /** The order is a sale. */
  'order-confirmed': { readonly order: MailOrder }
  /** Its payment failed when nobody was looking. */
  'payment-failed': { readonly order: OrderRef; readonly amount: Money }
  /** Something of it, or all, is on its way. `lines`: what; none: all of it. */
  'order-shipped': {
    readonly order: OrderRef
    readonly trackingNumber: string | null
    readonly carrier: string | null
    readonly lines?: readonly MailLine[]
  }
  'refund-made': { readonly order: OrderRef; readonly amount: Money; readonly giftCardAmount: Money }
  /** Money that the addressee has to fetch. */
  'refund-claim': { readonly order: OrderRef; readonly amount: Money; readonly claimUrl: string }
  /** An account that the shop made for the addressee, who chooses its password by a token for PASSWORD_RESET. */
  'account-claim': { readonly token: string }
  /** The token is made when the mail is sent: see `registerPreparer`. */
  'password-reset': { readonly token?: string }
  /** A token for EMAIL_VERIFY. */
  'email-verify': { readonly token: string }
  /** A token for INVITATION. `role`: as the API calls it. */
  invitation: { readonly token: string; readonly role: string; readonly invitedBy?: string | undefined }
  /** Somebody wants to see whether mails arrive. */
  test: Readonly<Record<never, never>>
}
export type MailTemplate = keyof MailData

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** Of each template: for how long it is of use, and whether somebody sits there and waits for it. */
export const mailTemplates = {
  'order-confirmed': { lifeMs: 3 * dayMs, isAwaited: false },
  'payment-failed': { lifeMs: dayMs, isAwaited: false },
  'order-shipped': { lifeMs: 3 * dayMs, isAwaited: false },
  'refund-made': { lifeMs: 3 * dayMs, isAwaited: false },
  'refund-claim': { lifeMs: 3 * dayMs, isAwaited: false },
  'account-claim': { lifeMs: dayMs, isAwaited: true },
  'password-reset': { lifeMs: 30 * minuteMs, isAwaited: true },
  'email-verify': { lifeMs: 12 * hourMs, isAwaited: true },
  invitation: { lifeMs: dayMs, isAwaited: true },
  test: { lifeMs: hourMs, isAwaited: true },
} as const satisfies Record<MailTemplate, { lifeMs: number; isAwaited: boolean }>
export const templateNames = Object.keys(mailTemplates) as MailTemplate[]

export const mailLanguages = ['en', 'ar', 'mn'] as const
export type MailLanguage = (typeof mailLanguages)[number]

/** What is sealed of a mail. */
export type MailContent<Template extends MailTemplate = MailTemplate> = { readonly to: string; readonly data: MailData[Template] }

/** What the sealed part of a mail is bound to. */
export const mailSeal = (id: string): string => `mail/${id}`

/** Of a shop's mails, those that somebody waits for go beside the others and not behind them. */
export const laneOf = (shopId: string | null, template: MailTemplate): string =>
  `${shopId ?? 'instance'}/${mailTemplates[template].isAwaited ? 'awaited' : 'told'}`
