import type { TokenRole } from '../../../core/tokens.ts'
import { normalMailAddress } from '../../../lib/mail-address.ts'
import { siteOf, siteTimes } from '../../../lib/networks.ts'

/** Whose session it is. */
export type Subject = { id: string; role: TokenRole; shopId?: string }

/** Whom a session was begun for. */
export const subjectOf = ({ subjectId, role, shopId }: { subjectId: string; role: TokenRole; shopId: string | null }): Subject => ({
  id: subjectId,
  role,
  ...(shopId ? { shopId } : {}),
})

/** How many tries are allowed within how long, by what. */
export type Limit = { readonly name: string; readonly most: number; readonly windowMs: number }

const minute = 60_000

/**
 * Failed logins: against one account from one address, and from one address against any of a kind: whoever guesses at customers
 * does not shut a merchant out who shares the address.
 */
export const loginByAccountAndAddress: Limit = { name: 'login:account+address', most: 10, windowMs: 15 * minute }
export const loginByAddress: Limit = { name: 'login:address', most: 50, windowMs: 15 * minute }
/** Failures from everywhere slow an account's logins down, and never refuse them: nobody can lock it out. */
export const loginByAccount: Limit = { name: 'login:account', most: 10, windowMs: 15 * minute }
export const loginDelayMs = 1_000
/** Logins that wait for others, which may fail yet, to make room: at one limit, and in all. */
export const loginsWaitingMax = { key: 100, all: 2_000 }
/** What a hundred take on a small machine. */
export const loginsWaitingRetrySeconds = 10
/** Failed tries of what shoppers type from a card or a mail, such as the code of a gift card: of a cart, a customer, an address. */
export type CodeTries = { readonly cart: Limit; readonly customer: Limit; readonly address: Limit }
/** @param what the codes are of: those of each kind are counted by themselves */
export const codeTriesOf = (what: string): CodeTries => ({
  cart: { name: `${what}:cart`, most: 10, windowMs: minute },
  customer: { name: `${what}:customer`, most: 10, windowMs: minute },
  address: { name: `${what}:address`, most: 30, windowMs: minute },
})
export const signupByAddress: Limit = { name: 'signup:address', most: 30, windowMs: 60 * minute }

/** Requests for a new password: by whoever asks, and of an account, whether there is one or not. */
export const resetByAddress: Limit = { name: 'reset:address', most: 30, windowMs: 60 * minute }
export const resetByAccount: Limit = { name: 'reset:account', most: 5, windowMs: 60 * minute }
/** Tokens from mails that are not good. */
export const tokenByAddress: Limit = { name: 'token:address', most: 50, windowMs: 15 * minute }

/**
 * What is counted of a caller by their address: by itself, and by its site, so that whoever has many addresses gains little by it.
 * @param address what the caller is limited by
 * @param key how it is said beside what else is counted
 */
export function byAddress(limit: Limit, address: string, key: (address: string) => string = (one) => one): [Limit, string][] {
  const site = siteOf(address)
  if (site === undefined) return [[limit, key(address)]]
  return [
    [limit, key(address)],
    [{ ...limit, name: `${limit.name}, site`, most: siteTimes * limit.most }, key(site)],
  ]
}

/**
 * How long after its first use a refresh token gets the same answer again: two requests at once, or an answer that was
 * lost.
 */
export const refreshGraceMs = 10_000

export const passwordLength = { minLength: 10, maxLength: 200 } as const

export { normalMailAddress as normalEmail }

/** An account whose password is looked at. */
export type Account = {
  readonly kind: 'customer' | 'merchant'
  /** Names it within the instance, as `user a@b.example`. */
  readonly name: string
  /** Undefined when there is no such account, or one without a password. */
  readonly hash: string | undefined
}

/** How an account of whoever runs a shop or the instance is named. */
export const userAccount = (email: string): string => `user ${normalMailAddress(email)}`
/** How a customer's is named; of a shop that does not exist, too. */
export const customerAccount = (shopId: string | undefined, email: string): string => `customer ${shopId} ${normalMailAddress(email)}`
