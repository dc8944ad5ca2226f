import { sql } from 'drizzle-orm'
import { enumText, index, instant, int, json, reference, table, text, uniqueIndex } from '../columns.ts'
import { users } from './people.ts'

/** A beneficial owner. */
export type Owner = {
  name: string
  /** Ten-thousandths of a percent, so that shares add up exactly. */
  share: number
}

/** A merchant's KYB application and its decision. */
export const kybRecords = table(
  'kyb_records',
  {
    id: text('id').primaryKey(),
    merchantId: reference('merchant_id', () => users.id),
    status: enumText('status', ['PENDING', 'APPROVED', 'REJECTED']).notNull(),
    cohort: enumText('cohort', [
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
    /** Reason of the decision. */
    reason: text('reason'),
    decidedAt: instant('decided_at'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: int('version').notNull(),
  },
  (record) => [
    // At most one active record per merchant; rejected ones stay.
    uniqueIndex('kyb_records_live').on(record.merchantId).where(sql`status <> 'REJECTED'`),
    index('kyb_records_merchant').on(record.merchantId, record.id),
    index('kyb_records_status').on(record.status, record.id),
  ],
)

/** History of a record. */
export const kybEvents = table(
  'kyb_events',
  {
    id: text('id').primaryKey(),
    recordId: reference('record_id', () => kybRecords.id),
    /** Sequence from 1 per record, because clocks of processes differ. */
    position: int('position').notNull(),
    type: enumText('type', ['FILED', 'APPROVED', 'REJECTED']).notNull(),
    at: instant('at').notNull(),
    /** Id of the person. */
    actor: text('actor').notNull(),
    reason: text('reason'),
  },
  (event) => [uniqueIndex('kyb_events_position').on(event.recordId, event.position)],
)
