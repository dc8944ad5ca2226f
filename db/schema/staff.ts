import { sql } from 'drizzle-orm'
import { bool, index, instant, int, table, text, uniqueIndex, word } from '../columns.ts'
import { users } from './people.ts'
import { shops } from './shop.ts'

/** Who works in a shop, and as what; whoever opened it is its first OWNER. Somebody who was invited has no account here before they join. */
export const staff = table(
  'staff',
  {
    id: text('id').primaryKey(),
    shopId: text('shop_id')
      .notNull()
      .references(() => shops.id),
    /** Null of an invitation. */
    userId: text('user_id').references(() => users.id),
    /** Whom an invitation went to, in its one spelling; null of who has joined: theirs is the account's. */
    email: text('email'),
    name: text('name'),
    role: word('role', ['OWNER', 'MANAGER', 'FULFILMENT', 'READ_ONLY']).notNull(),
    /** When the latest invitation was made; null of who opened the shop. */
    invitedAt: instant('invited_at'),
    /**
     * Whether the latest invitation went out by mail alone, so that its token proves the address. False where the shop
     * was given the link.
     */
    invitedByMail: bool('invited_by_mail').notNull().default(false),
    /** The account that was made when an invitation by link was accepted. It joins at its first login. */
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
