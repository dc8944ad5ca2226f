import { sql } from 'drizzle-orm'
import { index, instant, int, json, table, text, uniqueIndex, word } from '../columns.ts'
import { users } from './people.ts'

/** Somebody who owns a part of a business. */
export type Owner = {
  name: string
  /** Ten-thousandths of a percent, so that shares add up exactly. */
  share: number
}

/** What a merchant says of their business, and what an operator decided about it. */
export const kybRecords = table(
  'kyb_records',
  {
    id: text('id').primaryKey(),
    merchantId: text('merchant_id')
      .notNull()
      .references(() => users.id),
    status: word('status', ['PENDING', 'APPROVED', 'REJECTED']).notNull(),
    cohort: word('cohort', [
      'UAE_MAINLAND',
      'UAE_FREEZONE',
      'KSA_COMPANY',
      'KUWAIT_WLL',
      'MN_LLC',
      'MN_SOLE',
      'US_COMPANY',
      'US_SOLE_PROP',
      'UK_LTD',
      'EU_COMPANY',
      'SG_PTE',
      'INTL_OTHER',
    ]).notNull(),
    legalName: text('legal_name').notNull(),
    registrationNumber: text('registration_number').notNull(),
    country: text('country').notNull(),
    owners: json<Owner[]>('owners').notNull(),
    /** Of the decision. */
    reason: text('reason'),
    decidedAt: instant('decided_at'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: int('version').notNull(),
  },
  (record) => [
    // One that is live; those that were rejected stay.
    uniqueIndex('kyb_records_live').on(record.merchantId).where(sql`status <> 'REJECTED'`),
    index('kyb_records_merchant').on(record.merchantId, record.id),
    index('kyb_records_status').on(record.status, record.id),
  ],
)

/** What became of a record: who did it, when, and why. */
export const kybEvents = table(
  'kyb_events',
  {
    id: text('id').primaryKey(),
    recordId: text('record_id')
      .notNull()
      .references(() => kybRecords.id),
    /** From 1 in each record: clocks step back, and those of two processes differ. */
    position: int('position').notNull(),
    type: word('type', ['FILED', 'APPROVED', 'REJECTED']).notNull(),
    at: instant('at').notNull(),
    /** The id of the person who did it. */
    actor: text('actor').notNull(),
    reason: text('reason'),
  },
  (event) => [uniqueIndex('kyb_events_position').on(event.recordId, event.position)],
)
