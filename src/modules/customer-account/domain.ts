import type { Limit } from '../auth/domain.ts'

/** Mails that prove an address: of one account, to one address of a shop whoever has it, and asked for from one address of the network. */
export const verifyByCustomer: Limit = { name: 'verify:customer', most: 5, windowMs: 60 * 60 * 1000 }
export const verifyByMail: Limit = { name: 'verify:mail', most: 5, windowMs: 60 * 60 * 1000 }
export const verifyByAddress: Limit = { name: 'verify:address', most: 30, windowMs: 60 * 60 * 1000 }
