import { sql } from 'drizzle-orm'
import { index, instant, int, json, money, primaryKey, table, text, uniqueIndex, word } from '../columns.ts'
import type { kybRecords } from './kyb.ts'
import { users } from './people.ts'

type Cohort = (typeof kybRecords.$inferSelect)['cohort']

const applicationId = () =>
  text('application_id')
    .notNull()
    .references(() => lendingApplications.id)

const merchantId = () =>
  text('merchant_id')
    .notNull()
    .references(() => users.id)

const lenderId = () =>
  text('lender_id')
    .notNull()
    .references(() => lenders.id)

const status = (name: string) => word(name, ['DRAFT', 'SUBMITTED', 'UNDER_REVIEW', 'APPROVED', 'REJECTED', 'WITHDRAWN'])
const lenderStatus = (name: string) => word(name, ['PENDING_KYB', 'ACTIVE', 'SUSPENDED', 'ARCHIVED'])
const decision = (name: string) => word(name, ['APPROVED', 'REJECTED', 'UNDER_REVIEW'])

/** What a merchant acknowledges of their documents, as they sent it; only `items` means anything here. */
export type Documentation = { items?: { key: string; status: string; [more: string]: unknown }[]; [more: string]: unknown }

/** A merchant's asking for a loan. */
export const lendingApplications = table(
  'lending_applications',
  {
    id: text('id').primaryKey(),
    merchantId: merchantId(),
    /** Of the merchant's KYB record when it was drafted; what documents are asked for follows from it. */
    cohort: text('cohort').$type<Cohort>().notNull(),
    tier: word('tier', ['TIER_1_REFERRAL', 'TIER_2_PARTNER']).notNull(),
    status: status('status').notNull(),
    /** US cents. */
    requestedAmountUsd: money('requested_amount_usd'),
    requestedTermMonths: int('requested_term_months'),
    purposeCode: word('purpose_code', ['INVENTORY', 'WORKING_CAPITAL', 'EXPANSION', 'EQUIPMENT']),
    selectedTier1Partner: word('selected_tier1_partner', ['HARBOR_INVENTORY', 'MERIDIAN_REVENUE', 'KEYSTONE_SECURED', 'CARAVAN_TRADE']),
    selectedTier2Partner: text('selected_tier2_partner'),
    /** Of the last decision, or of the withdrawal; null where it gave none. */
    reason: text('reason'),
    /** The partner's own name for it, as the last decision that gave one says. */
    partnerExternalRef: text('partner_external_ref'),
    submittedAt: instant('submitted_at'),
    decidedAt: instant('decided_at'),
    /** `submittedAt`, and 0 before: what the queue is in the order of. Both engines sort numbers alike, and nothing not. */
    queuedAt: instant('queued_at').notNull(),
    /** Who drafted it: the merchant, or an operator for them. */
    createdBy: text('created_by').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: int('version').notNull(),
    // Last, since it may be long: an engine walks through it to whatever stands behind.
    documentationCompleted: json<Documentation>('documentation_completed'),
  },
  (application) => {
    const { status, tier, cohort, selectedTier1Partner, selectedTier2Partner, queuedAt, id } = application
    const isTier1 = sql`selected_tier1_partner is not null`
    const isTier2 = sql`selected_tier2_partner is not null`
    // The queue: an index for each combination of what it may be narrowed by, so that no row is read that it does not show.
    return [
      index('lending_applications_merchant').on(application.merchantId, id),
      // How many of a merchant's are open: they may have so many at a time.
      index('lending_applications_drafts').on(application.merchantId).where(sql`status = 'DRAFT'`),
      index('lending_queue').on(status, queuedAt, id),
      index('lending_queue_tier').on(status, tier, queuedAt, id),
      index('lending_queue_cohort').on(status, cohort, queuedAt, id),
      index('lending_queue_partner1').on(status, selectedTier1Partner, queuedAt, id).where(isTier1),
      index('lending_queue_partner2').on(status, selectedTier2Partner, queuedAt, id).where(isTier2),
      index('lending_queue_tier_partner1').on(status, tier, selectedTier1Partner, queuedAt, id).where(isTier1),
      index('lending_queue_tier_partner2').on(status, tier, selectedTier2Partner, queuedAt, id).where(isTier2),
      index('lending_queue_cohort_partner1').on(status, cohort, selectedTier1Partner, queuedAt, id).where(isTier1),
      index('lending_queue_cohort_partner2').on(status, cohort, selectedTier2Partner, queuedAt, id).where(isTier2),
    ]
  },
)

/** What became of an application: who did it, when, and why. Appended only. */
export const lendingEvents = table(
  'lending_events',
  {
    id: text('id').primaryKey(),
    applicationId: applicationId(),
    /** From 1 in each application: clocks step back, and those of two processes differ. */
    position: int('position').notNull(),
    type: word('type', ['CREATED', 'UPDATED', 'SUBMITTED', 'WITHDRAWN', 'DECIDED', 'DOCUMENT_UPLOADED', 'DOCUMENT_REMOVED']).notNull(),
    /** Null where there was none. */
    fromStatus: status('from_status'),
    toStatus: status('to_status').notNull(),
    /** The id of the person who did it. */
    actor: text('actor').notNull(),
    /** Of a document, its key; of an update, the names of the fields. */
    subject: text('subject'),
    reason: text('reason'),
    partnerExternalRef: text('partner_external_ref'),
    at: instant('at').notNull(),
  },
  (event) => [uniqueIndex('lending_events_position').on(event.applicationId, event.position)],
)

/** Decisions of operators, with what the rules said of the merchant's figures when these were given. Appended only. */
export const lendingDecisions = table(
  'lending_decisions',
  {
    id: text('id').primaryKey(),
    applicationId: applicationId(),
    decision: decision('decision').notNull(),
    /** What was put to the rules, and what they said, as JSON text to the byte; both and the version or none. */
    assessment: text('assessment'),
    envelope: text('envelope'),
    ruleVersion: text('rule_version'),
    actor: text('actor').notNull(),
    at: instant('at').notNull(),
  },
  (decision) => [index('lending_decisions_application').on(decision.applicationId, decision.id)],
)

/** Files that merchants uploaded: one a key of the checklist. What was replaced or removed has no row. */
export const lendingDocuments = table(
  'lending_documents',
  {
    id: text('id').primaryKey(),
    applicationId: applicationId(),
    key: text('key').notNull(),
    /** Where it lies: the data directory, or an S3-compatible store. */
    store: word('store', ['FILES', 'S3']).notNull(),
    /** Random: nothing of the merchant's is in it. */
    storageName: text('storage_name').notNull(),
    mimeType: text('mime_type').notNull(),
    /** In bytes, as it was sent. */
    size: money('size').notNull(),
    /** HMAC-SHA-256 of what was sent, in hex. */
    hash: text('hash').notNull(),
    /** As the sender called it, for the attachment; null: it had no name. */
    originalName: text('original_name'),
    /** The secret that its file is sealed under, sealed under a master key: a rotation touches rows and no files. */
    sealedKey: text('sealed_key').notNull(),
    uploadedBy: text('uploaded_by').notNull(),
    uploadedAt: instant('uploaded_at').notNull(),
  },
  (document) => [
    uniqueIndex('lending_documents_key').on(document.applicationId, document.key),
    uniqueIndex('lending_documents_storage').on(document.storageName),
  ],
)

/**
 * The stores that the documents of this database lie in. The mark is the name of a file that the first process to use one has put there: a
 * store that has none of that name is another one.
 */
export const registeredStores = table('document_stores', {
  kind: word('kind', ['FILES', 'S3', 'MEDIA_FILES', 'MEDIA_S3']).primaryKey(),
  mark: text('mark').notNull(),
  registeredAt: instant('registered_at').notNull(),
})

/** Who lends: loans, and so repayments, name one, in whichever status. */
export const lenders = table(
  'lenders',
  {
    id: text('id').primaryKey(),
    displayName: text('display_name').notNull(),
    status: lenderStatus('status').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: int('version').notNull(),
  },
  (lender) => [index('lenders_status').on(lender.status, lender.id)],
)

/** What a lender was from when on: attestations count if their lender was `ACTIVE` then. Appended only. */
export const lenderStatusHistory = table(
  'lender_status_history',
  {
    id: text('id').primaryKey(),
    lenderId: lenderId(),
    /** From 1 for each lender. */
    position: int('position').notNull(),
    status: lenderStatus('status').notNull(),
    actor: text('actor').notNull(),
    at: instant('at').notNull(),
  },
  (entry) => [uniqueIndex('lender_status_history_position').on(entry.lenderId, entry.position)],
)

/** What became of an instalment, as an operator recorded it. One that was wrong is reversed by an entry of its own, and stays. */
export const repayments = table(
  'repayments',
  {
    id: text('id').primaryKey(),
    merchantId: merchantId(),
    lenderId: lenderId(),
    loanRef: text('loan_ref').notNull(),
    outcome: word('outcome', ['ON_TIME', 'LATE', 'DEFAULT']).notNull(),
    /** US cents. */
    amountUsd: money('amount_usd').notNull(),
    dueAt: instant('due_at').notNull(),
    settledAt: instant('settled_at'),
    /** When it counts as having happened: `settledAt`, else `dueAt`. */
    datedAt: instant('dated_at').notNull(),
    source: word('source', ['OPERATOR', 'IMPORT', 'ATTESTATION']).notNull(),
    recordedBy: text('recorded_by').notNull(),
    recordedAt: instant('recorded_at').notNull(),
    /** Set by its reversing entry; it counts no more, and its key is free. */
    reversedAt: instant('reversed_at'),
  },
  (repayment) => [
    uniqueIndex('repayments_key').on(repayment.lenderId, repayment.loanRef, repayment.dueAt).where(sql`reversed_at is null`),
    index('repayments_merchant').on(repayment.merchantId, repayment.id),
    // A lender's next tape says once more what was reversed.
    index('repayments_reversed').on(repayment.lenderId, repayment.loanRef, repayment.dueAt).where(sql`reversed_at is not null`),
    index('repayments_lender').on(repayment.lenderId, repayment.id),
    index('repayments_loan').on(repayment.loanRef, repayment.id),
    index('repayments_outcome').on(repayment.outcome, repayment.id),
    index('repayments_defaults').on(repayment.merchantId, repayment.datedAt).where(sql`outcome = 'DEFAULT' and reversed_at is null`),
    // Whether a merchant has another one with a lender, and which was settled last, once one is reversed.
    index('repayments_merchant_lender').on(repayment.merchantId, repayment.lenderId).where(sql`reversed_at is null`),
    index('repayments_settled').on(repayment.merchantId, repayment.settledAt).where(sql`reversed_at is null`),
  ],
)

/** What undoes a repayment: one a repayment. Appended only. */
export const repaymentReversals = table(
  'repayment_reversals',
  {
    id: text('id').primaryKey(),
    repaymentId: text('repayment_id')
      .notNull()
      .references(() => repayments.id),
    reason: text('reason').notNull(),
    recordedBy: text('recorded_by').notNull(),
    recordedAt: instant('recorded_at').notNull(),
  },
  (reversal) => [uniqueIndex('repayment_reversals_repayment').on(reversal.repaymentId)],
)

/** What a merchant's repayments come to, kept in the write of each, so that a preview counts nothing. Reversed ones are not in it. */
export const merchantRepaymentSignals = table('merchant_repayment_signals', {
  merchantId: merchantId().primaryKey(),
  totalOnTime: int('total_on_time').notNull(),
  totalLate: int('total_late').notNull(),
  totalDefaults: int('total_defaults').notNull(),
  lenderCount: int('lender_count').notNull(),
  mostRecentSettlementAt: instant('most_recent_settlement_at'),
  updatedAt: instant('updated_at').notNull(),
})

/** How many defaults of a merchant are dated on a day, however many they are. */
export const merchantDefaultDays = table(
  'merchant_default_days',
  {
    merchantId: merchantId(),
    /** Days since the epoch, UTC. */
    day: int('day').notNull(),
    defaults: int('defaults').notNull(),
  },
  (entry) => [primaryKey({ columns: [entry.merchantId, entry.day] })],
)

/** The same by sixteen days: a year is some fifty rows of both together. */
export const merchantDefaultBlocks = table(
  'merchant_default_blocks',
  {
    merchantId: merchantId(),
    /** Sixteen days since the epoch, UTC. */
    block: int('block').notNull(),
    defaults: int('defaults').notNull(),
  },
  (entry) => [primaryKey({ columns: [entry.merchantId, entry.block] })],
)

/** Rules by which decisions were judged, as the JSON text that their version is of, so that those can be judged again. Appended only. */
export const lendingRuleVersions = table('lending_rule_versions', {
  version: text('version').primaryKey(),
  rules: text('rules').notNull(),
  /** When a decision was first judged by them. */
  firstUsedAt: instant('first_used_at').notNull(),
})
