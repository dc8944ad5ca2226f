import { sql } from 'drizzle-orm'
import { enumText, index, instant, int, json, primaryKey, reference, table, text, uniqueIndex } from '../columns.ts'
import { shops } from './shop.ts'

/** Mails to send, stored in the commit of their cause. */
export const mails = table(
  'mails',
  {
    id: text('id').primaryKey(),
    /** Identifies the cause, so that it is mailed once: `order-confirmed:order_…`. */
    key: text('key').notNull(),
    /** Null for mails of the instance, such as to operators. */
    shopId: text('shop_id').references(() => shops.id),
    /** Mails of a lane are sent in order; lanes take turns. */
    lane: text('lane').notNull(),
    template: text('template').notNull(),
    /** Null: the shop's language at the time of sending. */
    language: text('language'),
    /** Recipient and template data. Null after the mail was sent or abandoned. */
    sealed: text('sealed'),
    status: enumText('status', ['PENDING', 'SENT', 'FAILED', 'DROPPED']).notNull(),
    attempts: int('attempts').notNull(),
    /** Next attempt; during one, the end of its lease. */
    nextAt: instant('next_at').notNull(),
    /** Time after which the mail is useless. */
    expiresAt: instant('expires_at').notNull(),
    /** Our description, without an address. */
    lastError: text('last_error'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** Hash of the recipient, for quotas. */
    recipient: text('recipient'),
    /** Hash of the client address that caused the mail; null for staff. */
    cause: text('cause'),
    /** Time of the first attempt, which counts towards quotas. */
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

/** Branding of a shop's mails, if set. */
export const shopMail = table('shop_mail', {
  shopId: reference('shop_id', () => shops.id).primaryKey(),
  senderName: text('sender_name'),
  replyTo: text('reply_to'),
  accentColour: text('accent_colour'),
  backgroundColour: text('background_colour'),
  language: text('language').notNull(),
  version: int('version').notNull(),
  updatedAt: instant('updated_at').notNull(),
  /** Addresses that get a mail for each order. Null: none. */
  orderMails: json<readonly string[]>('order_mails'),
  /** Null: off, with the default delay. */
  abandonedCartMail: json<{ readonly enabled: boolean; readonly afterHours: number }>('abandoned_cart_mail'),
})

/** Texts of mails that a shop edited. Reset texts are null; the row stays, so that versions do not repeat. */
export const mailTexts = table(
  'mail_texts',
  {
    shopId: reference('shop_id', () => shops.id),
    template: text('template').notNull(),
    language: text('language').notNull(),
    subject: text('subject'),
    intro: text('intro'),
    closing: text('closing'),
    version: int('version').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (texts) => [primaryKey({ columns: [texts.shopId, texts.template, texts.language] })],
)

/** One-time tokens, mailed or printed at the start of the server. A token proves that its owner reads the address. */
export const oneTimeTokens = table(
  'one_time_tokens',
  {
    /** SHA-256 of the token, which is not stored. */
    hash: text('hash').primaryKey(),
    purpose: enumText('purpose', ['PASSWORD_RESET', 'EMAIL_VERIFY', 'INVITATION', 'SETUP', 'CART_RECOVERY']).notNull(),
    /** A user, a customer, or another subject. */
    subjectId: text('subject_id').notNull(),
    /** For customers and staff. */
    shopId: text('shop_id'),
    /** SHA-256 of the recipient; the token proves only this address. */
    addressHash: text('address_hash').notNull(),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    /** Also set when another token of the subject was used. */
    usedAt: instant('used_at'),
  },
  (token) => [index('one_time_tokens_subject').on(token.subjectId, token.purpose), index('one_time_tokens_expiry').on(token.expiresAt)],
)
