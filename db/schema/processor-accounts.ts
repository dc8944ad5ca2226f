import { sql } from 'drizzle-orm'
import { processorNames } from '../../src/lib/processors.ts'
import { enumText, index, instant, int, json, reference, table, text, uniqueIndex } from '../columns.ts'
import { shops } from './shop.ts'

/**
 * A shop's processor accounts: one row per set of keys. Rows are only retired, because payments refer to their account.
 */
export const processorAccounts = table(
  'processor_accounts',
  {
    id: text('id').primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    /** The id of the account's first row. Payments refer to it, so new keys continue it. */
    accountId: text('account_id').notNull(),
    processor: enumText('processor', processorNames).notNull(),
    mode: enumText('mode', ['TEST', 'LIVE']).notNull(),
    /** Hash of what identifies the account at the processor; null if unknown. */
    identity: text('identity'),
    /** Fields that payment pages may see, by name. */
    publishable: json<Record<string, string>>('publishable').notNull(),
    /** Other fields as sealed JSON. */
    sealedSettings: text('sealed_settings').notNull(),
    /** URL of a merchant's own server; null: operator settings. */
    apiUrl: text('api_url'),
    /** Names of all given fields. */
    names: json<string[]>('names').notNull(),
    /** Version from 1 per shop, processor and mode. `ETag` and `If-Match` use it. */
    version: int('version').notNull(),
    /** When the processor last accepted the keys. */
    checkedAt: instant('checked_at').notNull(),
    createdAt: instant('created_at').notNull(),
    /** When the keys were replaced or removed. */
    retiredAt: instant('retired_at'),
  },
  (row) => [
    uniqueIndex('processor_accounts_live').on(row.shopId, row.processor, row.mode).where(sql`retired_at is null`),
    uniqueIndex('processor_accounts_version').on(row.shopId, row.processor, row.mode, row.version),
    index('processor_accounts_account').on(row.accountId, row.version),
  ],
)
