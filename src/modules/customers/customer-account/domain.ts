import { hourMs } from '../../../lib/day.ts'
import type { Limit } from '../../identity/auth/domain.ts'

/** Mails that prove an address: of one account, to one address of a shop whoever has it, and asked for from one address of the network. */
export const verifyByCustomer: Limit = { name: 'verify:customer', most: 5, windowMs: hourMs }
export const verifyByMail: Limit = { name: 'verify:mail', most: 5, windowMs: hourMs }
export const verifyByAddress: Limit = { name: 'verify:address', most: 30, windowMs: hourMs }
