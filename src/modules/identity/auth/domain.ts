import type { TokenRole } from '../../../core/tokens.ts'
import { hourMs, minuteMs } from '../../../lib/day.ts'
import { normalMailAddress } from '../../../lib/mail-address.ts'
import { siteOf, siteTimes } from '../../../lib/networks.ts'

/** The owner of a session. */
export type Subject = { id: string; role: TokenRole; shopId?: string }

/** Returns the owner of a stored session. */
export const subjectOf = ({ subjectId, role, shopId }: { subjectId: string; role: TokenRole; shopId: string | null }): Subject => ({
  id: subjectId,
  role,
  ...(shopId ? { shopId } : {}),
})

/** A limit of attempts within a time window. */
export type Limit = { readonly name: string; readonly most: number; readonly windowMs: number }

/**
 * Failed logins of an account from a client address, and of all accounts of a kind from it. Guessing customer
 * passwords does not lock out a merchant at the same address. In the names, `address` is the client's (`limitKeyOf`),
 * never an e-mail address.
 */
export const loginByAccountAndAddress: Limit = { name: 'login:account+address', most: 10, windowMs: 15 * minuteMs }
export const loginByAddress: Limit = { name: 'login:address', most: 50, windowMs: 15 * minuteMs }
/** Failures from all addresses slow down an account's logins but never refuse them, so that nobody can lock it out. */
export const loginByAccount: Limit = { name: 'login:account', most: 10, windowMs: 15 * minuteMs }
export const loginDelayMs = 1_000
/** Logins that wait for a pending attempt to free a slot: per limit, and in total. */
export const loginsWaitingMax = { key: 100, all: 2_000 }
/** The time that 100 logins take on a small machine. */
export const loginsWaitingRetrySeconds = 10
/** Limits of failed codes, such as gift card codes: per cart, customer and address. */
export type CodeLimits = { readonly cart: Limit; readonly customer: Limit; readonly address: Limit }
/** @param what the kind of code; kinds are counted separately */
export const codeLimits = (what: string): CodeLimits => ({
  cart: { name: `${what}:cart`, most: 10, windowMs: minuteMs },
  customer: { name: `${what}:customer`, most: 10, windowMs: minuteMs },
  address: { name: `${what}:address`, most: 30, windowMs: minuteMs },
})
export const signupByAddress: Limit = { name: 'signup:address', most: 30, windowMs: hourMs }

/** Password reset requests: per address, and per account, existing or not. */
export const resetByAddress: Limit = { name: 'reset:address', most: 30, windowMs: hourMs }
export const resetByAccount: Limit = { name: 'reset:account', most: 5, windowMs: hourMs }
/** Invalid tokens from mails. */
export const tokenByAddress: Limit = { name: 'token:address', most: 50, windowMs: 15 * minuteMs }

/**
 * Returns the limits by client address: for the address, and for the /48 of an IPv6 address, so that the many
 * addresses of one client gain little.
 * @param address the rate-limit key
 * @param key makes the counted key from an address
 */
export function limitsByAddress(limit: Limit, address: string, key: (address: string) => string = (one) => one): [Limit, string][] {
  const site = siteOf(address)
  if (site === undefined) return [[limit, key(address)]]
  return [
    [limit, key(address)],
    [{ ...limit, name: `${limit.name}, site`, most: siteTimes * limit.most }, key(site)],
  ]
}

/**
 * Time after the first use in which a refresh token returns the same response, for concurrent requests and lost
 * responses.
 */
export const refreshGraceMs = 10_000

export const passwordLength = { minLength: 10, maxLength: 200 } as const

export { normalMailAddress as normalEmail }

/** An account whose password is checked. */
export type Account = {
  readonly kind: 'customer' | 'merchant'
  /** Unique in the instance, such as `user a@b.example`. */
  readonly name: string
  /** Undefined if the account does not exist or has no password. */
  readonly hash: string | undefined
}

/** Returns the account name of a merchant or operator. */
export const userAccount = (email: string): string => `user ${normalMailAddress(email)}`
/** Returns the account name of a customer, also for a shop that does not exist. */
export const customerAccount = (shopId: string | undefined, email: string): string => `customer ${shopId} ${normalMailAddress(email)}`
