import type { Limit } from '../auth/domain.ts'

/** Limits a shop's invitations, each of which may send a mail to any address. */
export const invitationsByShop: Limit = { name: 'invitation:shop', most: 50, windowMs: 60 * 60_000 }

export const staffNameMax = 200
