import { hourMs } from '../../lib/day.ts'
import type { Limit } from '../auth/domain.ts'

/** Mails that prove an address: to one account, and asked for from one address. */
export const verifyByCustomer: Limit = { name: 'verify:customer', most: 5, windowMs: hourMs }
export const verifyByAddress: Limit = { name: 'verify:address', most: 30, windowMs: hourMs }
