import { hourMs } from '../../../lib/day.ts'
import type { Limit } from '../../identity/auth/domain.ts'

/** Limits of verification mails: per account, per recipient address, and per network address. */
export const verifyByCustomer: Limit = { name: 'verify:customer', most: 5, windowMs: hourMs }
export const verifyByMail: Limit = { name: 'verify:mail', most: 5, windowMs: hourMs }
export const verifyByAddress: Limit = { name: 'verify:address', most: 30, windowMs: hourMs }
