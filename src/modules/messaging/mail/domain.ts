import type { mails, shopMail } from '../../../../db/schema/mail.ts'
import { dayMs, hourMs, minuteMs } from '../../../lib/day.ts'
import type { Money } from '../../../lib/money.ts'
import { addJitter } from '../../../lib/random.ts'

export type Mail = typeof mails.$inferSelect
export type ShopMail = typeof shopMail.$inferSelect

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
  /** A draft order that the addressee pays by its link. `more`: lines left out. */
  'order-draft': { readonly draftId: string; readonly lines: readonly MailLine[]; readonly more: number; readonly total: Money }
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

/** For each template: how long it is useful, and whether a person is waiting for it. */
export const mailTemplates = {
  'order-confirmed': { lifeMs: 3 * dayMs, isAwaited: false },
  'payment-failed': { lifeMs: dayMs, isAwaited: false },
  'order-shipped': { lifeMs: 3 * dayMs, isAwaited: false },
  'refund-made': { lifeMs: 3 * dayMs, isAwaited: false },
  'order-draft': { lifeMs: 3 * dayMs, isAwaited: false },
  'refund-claim': { lifeMs: 3 * dayMs, isAwaited: false },
  'account-claim': { lifeMs: dayMs, isAwaited: true },
  'password-reset': { lifeMs: 30 * minuteMs, isAwaited: true },
  'email-verify': { lifeMs: 12 * hourMs, isAwaited: true },
  invitation: { lifeMs: dayMs, isAwaited: true },
  'account-changed': { lifeMs: 3 * dayMs, isAwaited: false },
  test: { lifeMs: hourMs, isAwaited: true },
} as const satisfies Record<MailTemplate, { lifeMs: number; isAwaited: boolean }>
export const templateNames = Object.keys(mailTemplates) as MailTemplate[]

export const mailLanguages = ['en', 'ar', 'mn'] as const
export type MailLanguage = (typeof mailLanguages)[number]
export const isMailLanguage = (text: string): text is MailLanguage => (mailLanguages as readonly string[]).includes(text)

/** The sealed content of a mail. */
export type MailContent<Template extends MailTemplate = MailTemplate> = { readonly to: string; readonly data: MailData[Template] }

/** What the sealed content is bound to. */
export const mailSeal = (id: string): string => `mail/${id}`

/** Mails that a person waits for have a lane of their own in each shop. */
export const laneOf = (shopId: string | null, template: MailTemplate): string =>
  `${shopId ?? 'instance'}/${mailTemplates[template].isAwaited ? 'awaited' : 'told'}`

/** Concurrent attempts per process. */
export const slotsMax = 8
/** Slots for a lane while `free` are left: one lane gets half of all, and fewer as others come. */
export const slotsPerLane = (free: number): number => Math.max(1, free - 1)

/** Selects due mails, one per lane, for which slots are free, in order. */
export function selectForSlots<Due extends { readonly lane: string }>(
  due: readonly Due[],
  underWay: readonly string[],
  places = slotsMax,
): Due[] {
  const lanes = [...underWay]
  return due.filter(({ lane }) => {
    const free = places - lanes.length
    if (free <= 0 || lanes.filter((one) => one === lane).length >= slotsPerLane(free)) return false
    lanes.push(lane)
    return true
  })
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
  const over = (status: 'SENT' | 'FAILED' | 'DROPPED', lastError: string | null): MailResult => ({
    status,
    lastError,
    nextAt: now,
    sealed: null,
  })
  switch (outcome.result) {
    case 'sent':
      return over('SENT', null)
    case 'nobody':
      return over('DROPPED', null)
    case 'refused':
      return over('FAILED', outcome.error)
    case 'server':
      return { status: 'PENDING', attempts: attempts - 1, nextAt: now + addJitter(serverPauseMs, chance), lastError: outcome.error }
    case 'later':
    case 'broken':
    case 'internal': {
      const pause = retryPausesMs[Math.min(attempts, retryPausesMs.length) - 1] ?? retryPausesMs[0]
      const nextAt = now + addJitter(pause, chance)
      return nextAt < expiresAt ? { status: 'PENDING', nextAt, lastError: outcome.error } : over('FAILED', outcome.error)
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
