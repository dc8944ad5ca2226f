import { sql } from 'drizzle-orm'
import { index, instant, int, json, table, text, uniqueIndex, word } from '../columns.ts'
import { shops } from './shop.ts'

/**
 * A shop's own accounts with payment processors: a row for each set of keys that one ever had. Rows are never changed but to be retired,
 * and never removed: payments keep the account that took them.
 */
export const processorAccounts = table(
  'processor_accounts',
  {
    id: text('id').primaryKey(),
    shopId: text('shop_id')
      .notNull()
      .references(() => shops.id),
    /** What payments go by: the id of the first row of this account at its processor, so that other keys of it go on with them. */
    accountId: text('account_id').notNull(),
    processor: word('processor', ['stripe', 'tap', 'qpay', 'checkout', 'paypal', 'btcpay']).notNull(),
    mode: word('mode', ['TEST', 'LIVE']).notNull(),
    /** A hash of what tells one account from another at its processor; null where what was given does not tell. */
    identity: text('identity'),
    /** What a payment page may be told, by its names. */
    publishable: json<Record<string, string>>('publishable').notNull(),
    /** Everything else, as sealed JSON. */
    sealedSettings: text('sealed_settings').notNull(),
    /** Of a merchant's own server; null: where the operator's settings say. */
    apiUrl: text('api_url'),
    /** The names of all that was given. */
    names: json<string[]>('names').notNull(),
    /** From 1 for each shop, processor and mode, whatever becomes of the rows: what `ETag` and `If-Match` go by. */
    version: int('version').notNull(),
    /** When its processor last said that it knows the keys. */
    checkedAt: instant('checked_at').notNull(),
    createdAt: instant('created_at').notNull(),
    /** When other keys took its place, or it was taken away. */
    retiredAt: instant('retired_at'),
  },
  (row) => [
    uniqueIndex('processor_accounts_live').on(row.shopId, row.processor, row.mode).where(sql`retired_at is null`),
    uniqueIndex('processor_accounts_version').on(row.shopId, row.processor, row.mode, row.version),
    index('processor_accounts_account').on(row.accountId, row.version),
  ],
)
