import type { mails, shopMail } from '../../../../db/schema/mail.ts'
import { dayMs, hourMs, minuteMs } from '../../../lib/day.ts'
import type { Money } from '../../../lib/money.ts'

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

/** What of an account was changed. */
export type AccountChange = 'password' | 'email' | 'factorOn' | 'factorOff'

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
  /** An order that the shop has drawn up for the addressee, who pays it by its link. `more`: lines that are not among these. */
  'order-draft': { readonly draftId: string; readonly lines: readonly MailLine[]; readonly more: number; readonly total: Money }
  /** Money that the addressee has to fetch. */
  'refund-claim': { readonly order: OrderRef; readonly amount: Money; readonly claimUrl: string }
  /** An account that the shop made for the addressee, who chooses its password by a token for PASSWORD_RESET, made when the mail is sent. */
  'account-claim': { readonly token?: string }
  /** The same for somebody who asked for it: see password-reset. */
  'password-reset': { readonly token?: string }
  /** A token for EMAIL_VERIFY. */
  'email-verify': { readonly token: string }
  /** A token for INVITATION. `role`: as the API calls it. */
  invitation: { readonly token: string; readonly role: string; readonly invitedBy?: string | undefined }
  /** To whoever has the account: somebody, it may not have been they, has changed it. */
  'account-changed': { readonly what: AccountChange }
  /** Somebody wants to see whether mails arrive. */
  test: Readonly<Record<never, never>>
}
export type MailTemplate = keyof MailData

/** Of each template: for how long it is of use, and whether somebody sits there and waits for it. */
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

/** What is sealed of a mail. */
export type MailContent<Template extends MailTemplate = MailTemplate> = { readonly to: string; readonly data: MailData[Template] }

/** What the sealed part of a mail is bound to. */
export const mailSeal = (id: string): string => `mail/${id}`

/** Of a shop's mails, those that somebody waits for go beside the others and not behind them. */
export const laneOf = (shopId: string | null, template: MailTemplate): string =>
  `${shopId ?? 'instance'}/${mailTemplates[template].isAwaited ? 'awaited' : 'told'}`

/** How much is under way in a process at once. */
export const placesMax = 8
/** How many a lane may have while so many places are free: one that has thousands has half of them alone, and fewer as others come. */
export const shareOf = (free: number): number => Math.max(1, free - 1)

/** Of the due, one of each lane, those that there is room for beside what is under way, in their order. */
export function withRoom<Due extends { readonly lane: string }>(
  due: readonly Due[],
  underWay: readonly string[],
  places = placesMax,
): Due[] {
  const lanes = [...underWay]
  return due.filter(({ lane }) => {
    const free = places - lanes.length
    if (free <= 0 || lanes.filter((one) => one === lane).length >= shareOf(free)) return false
    lanes.push(lane)
    return true
  })
}

/** The pause after each attempt that came to nothing, the last one again and again: soon at first, for those who wait, then as RFC 5321 (4.5.4.1) has it. */
export const pausesMs = [minuteMs, 5 * minuteMs, 15 * minuteMs, 30 * minuteMs, hourMs, 2 * hourMs, 4 * hourMs] as const
/** Where the server took nothing at all, the mail is not what was wrong. */
const serverPauseMs = 15_000
/** A pause is longer or shorter by up to this part of it, so that what failed together does not come back together. */
const jitter = 0.1
const jittered = (pause: number, chance: number) => Math.round(pause * (1 - jitter + 2 * jitter * chance))

/** What came of an attempt. `nobody`: nobody is to get it (any more). `error`: in words, without an address. */
export type Outcome =
  | { readonly result: 'sent' | 'nobody' }
  | { readonly result: 'refused' | 'later' | 'broken' | 'server' | 'internal'; readonly error: string }

type After = Pick<Mail, 'status' | 'nextAt' | 'lastError'> & { attempts?: number; sealed?: null }

/**
 * Where an attempt leaves a mail. What is over holds nothing of anybody any more.
 * @param mail its `attempts` with this one
 * @param chance from 0 to 1
 */
export function afterAttempt(
  outcome: Outcome,
  { attempts, expiresAt }: Pick<Mail, 'attempts' | 'expiresAt'>,
  now: number,
  chance: number,
): After {
  const over = (status: 'SENT' | 'FAILED' | 'DROPPED', lastError: string | null): After => ({
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
      return { status: 'PENDING', attempts: attempts - 1, nextAt: now + jittered(serverPauseMs, chance), lastError: outcome.error }
    case 'later':
    case 'broken':
    case 'internal': {
      const pause = pausesMs[Math.min(attempts, pausesMs.length) - 1] ?? pausesMs[0]
      const nextAt = now + jittered(pause, chance)
      return nextAt < expiresAt ? { status: 'PENDING', nextAt, lastError: outcome.error } : over('FAILED', outcome.error)
    }
  }
}

/** Whether an attempt says that the mail server does not do its work; undefined where it says nothing of it. */
export function serverFailed({ result }: Outcome): boolean | undefined {
  if (result === 'server' || result === 'broken') return true
  return result === 'nobody' || result === 'internal' ? undefined : false
}

/** How long what was sent stays to be looked at, without whom it was for. */
export const keptMs = 30 * dayMs
