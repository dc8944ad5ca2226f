import type { Limit } from '../auth/domain.ts'

/** Invitations of a shop: each may send a mail to whoever the shop likes. */
export const invitationsByShop: Limit = { name: 'invitation:shop', most: 50, windowMs: 60 * 60_000 }

export const staffNameMax = 200
