import { sql } from 'drizzle-orm'
import { index, instant, int, table, text, uniqueIndex, word } from '../columns.ts'
import { shops } from './shop.ts'

/** What somebody is to be told by mail, written in the same commit as what happened. */
export const mails = table(
  'mails',
  {
    id: text('id').primaryKey(),
    /** Names what happened, so that it is told once: `order-confirmed:order_…`. */
    key: text('key').notNull(),
    /** Null of what the instance itself has to say, such as to an operator. */
    shopId: text('shop_id').references(() => shops.id),
    /** Mails of a lane go one after the other; the lanes have their turns. */
    lane: text('lane').notNull(),
    template: text('template').notNull(),
    /** Null: the shop's, as it is when the mail is sent. */
    language: text('language'),
    /** To whom, and what the template says of them. Null once it is over: nothing of the person stays. */
    sealed: text('sealed'),
    status: word('status', ['PENDING', 'SENT', 'FAILED', 'DROPPED']).notNull(),
    attempts: int('attempts').notNull(),
    /** When it is tried next; while it is at work, until when it is left to whoever has it. */
    nextAt: instant('next_at').notNull(),
    /** When nobody has any use for it any more. */
    expiresAt: instant('expires_at').notNull(),
    /** In our words, without an address. */
    lastError: text('last_error'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** Hash of the address that it goes to, for its quota. */
    recipient: text('recipient'),
    /** Hash of the client address that caused the mail, if it is not the shop's staff; otherwise null. */
    cause: text('cause'),
    /** When it counted towards the quotas: at its first attempt. */
    countedAt: instant('counted_at'),
  },
  (mail) => [
    uniqueIndex('mails_key').on(mail.key),
    index('mails_shop_counted').on(mail.shopId, mail.countedAt).where(sql`counted_at is not null`),
    index('mails_recipient_counted').on(mail.recipient, mail.countedAt).where(sql`counted_at is not null`),
    index('mails_cause_counted').on(mail.cause, mail.countedAt).where(sql`counted_at is not null and cause is not null`),
    index('mails_counted').on(mail.countedAt).where(sql`recipient is not null`),
    index('mails_dropped').on(mail.shopId, mail.updatedAt).where(sql`status = 'DROPPED'`),
    index('mails_lane').on(mail.lane, mail.nextAt).where(sql`status = 'PENDING'`),
    index('mails_due').on(mail.nextAt).where(sql`status = 'PENDING'`),
    index('mails_expiry').on(mail.expiresAt).where(sql`status = 'PENDING'`),
  ],
)

/** How a shop's mails look, once it has said so. */
export const shopMail = table('shop_mail', {
  shopId: text('shop_id')
    .primaryKey()
    .references(() => shops.id),
  senderName: text('sender_name'),
  replyTo: text('reply_to'),
  accentColour: text('accent_colour'),
  backgroundColour: text('background_colour'),
  language: text('language').notNull(),
  version: int('version').notNull(),
  updatedAt: instant('updated_at').notNull(),
})

/** What was sent by mail, or printed where the server starts, and proves, once, that whoever has it reads what goes there. */
export const oneTimeTokens = table(
  'one_time_tokens',
  {
    /** SHA-256 of the token, which is kept nowhere. */
    hash: text('hash').primaryKey(),
    purpose: word('purpose', ['PASSWORD_RESET', 'EMAIL_VERIFY', 'INVITATION', 'SETUP']).notNull(),
    /** A user, a customer, or what else it is about. */
    subjectId: text('subject_id').notNull(),
    /** Of a customer, and of staff. */
    shopId: text('shop_id'),
    /** SHA-256 of the address that it went to: it proves nothing of another. */
    addressHash: text('address_hash').notNull(),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    /** Also of those that another one of the same subject has made useless. */
    usedAt: instant('used_at'),
  },
  (token) => [index('one_time_tokens_subject').on(token.subjectId, token.purpose), index('one_time_tokens_expiry').on(token.expiresAt)],
)
