import { sql } from 'drizzle-orm'
import { bool, enumText, index, instant, int, reference, table, text, uniqueIndex } from '../columns.ts'
import { users } from './people.ts'
import { shops } from './shop.ts'

/**
 * Staff of a shop with roles; the merchant who opened it is the first OWNER. Invited people without an account have no
 * user.
 */
export const staff = table(
  'staff',
  {
    id: text('id').primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    /** Null for an invitation. */
    userId: text('user_id').references(() => users.id),
    /** Normalized recipient of an invitation; null for members, who have the account's address. */
    email: text('email'),
    name: text('name'),
    role: enumText('role', ['OWNER', 'MANAGER', 'FULFILMENT', 'READ_ONLY']).notNull(),
    /** Time of the latest invitation; null for the first owner. */
    invitedAt: instant('invited_at'),
    /**
     * Whether the latest invitation was only mailed, so that its token proves the address. False if the shop got the
     * link.
     */
    invitedByMail: bool('invited_by_mail').notNull().default(false),
    /** Account created by an invitation link. It becomes a member at its first login. */
    acceptedBy: text('accepted_by').references(() => users.id),
    joinedAt: instant('joined_at'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: int('version').notNull().default(1),
  },
  (member) => [
    uniqueIndex('staff_user_shop').on(member.userId, member.shopId).where(sql`user_id is not null`),
    uniqueIndex('staff_shop_email').on(member.shopId, member.email).where(sql`email is not null`),
    index('staff_shop').on(member.shopId, member.id),
    index('staff_accepted').on(member.acceptedBy).where(sql`accepted_by is not null`),
  ],
)
