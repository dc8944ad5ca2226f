import { sql } from 'drizzle-orm'
import { enumText, index, instant, int, json, money, primaryKey, reference, table, text, uniqueIndex } from '../columns.ts'
import type { kybRecords } from './kyb.ts'
import { users } from './people.ts'

type Cohort = (typeof kybRecords.$inferSelect)['cohort']

const applicationId = () => reference('application_id', () => lendingApplications.id)

const merchantId = () => reference('merchant_id', () => users.id)

const lenderId = () => reference('lender_id', () => lenders.id)

const status = (name: string) => enumText(name, ['DRAFT', 'SUBMITTED', 'UNDER_REVIEW', 'APPROVED', 'REJECTED', 'WITHDRAWN'])
const lenderStatus = (name: string) => enumText(name, ['PENDING_KYB', 'ACTIVE', 'SUSPENDED', 'ARCHIVED'])
const decision = (name: string) => enumText(name, ['APPROVED', 'REJECTED', 'UNDER_REVIEW'])

/** Documents that the merchant acknowledged, as sent; only `items` is interpreted. */
export type Documentation = { items?: { key: string; status: string; [more: string]: unknown }[]; [more: string]: unknown }

/** A loan application. */
export const lendingApplications = table(
  'lending_applications',
  {
    id: text('id').primaryKey(),
    merchantId: merchantId(),
    /** Cohort of the merchant's KYB record at the draft; it determines the required documents. */
    cohort: text('cohort').$type<Cohort>().notNull(),
    tier: enumText('tier', ['TIER_1_REFERRAL', 'TIER_2_PARTNER']).notNull(),
    status: status('status').notNull(),
    /** US cents. */
    requestedAmountUsd: money('requested_amount_usd'),
    requestedTermMonths: int('requested_term_months'),
    purposeCode: enumText('purpose_code', ['INVENTORY', 'WORKING_CAPITAL', 'EXPANSION', 'EQUIPMENT']),
    selectedTier1Partner: enumText('selected_tier1_partner', ['HARBOR_INVENTORY', 'MERIDIAN_REVENUE', 'KEYSTONE_SECURED', 'CARAVAN_TRADE']),
    selectedTier2Partner: text('selected_tier2_partner'),
    /** Reason of the last decision or withdrawal, if any. */
    reason: text('reason'),
    /** The partner's reference in the last decision with one. */
    partnerExternalRef: text('partner_external_ref'),
    submittedAt: instant('submitted_at'),
    decidedAt: instant('decided_at'),
    /** `submittedAt`, or 0: sort key of the queue, because engines sort null differently. */
    queuedAt: instant('queued_at').notNull(),
    /** Who drafted it: the merchant or an operator. */
    createdBy: text('created_by').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: int('version').notNull(),
    // Last, because engines read past long values.
    documentationCompleted: json<Documentation>('documentation_completed'),
  },
  (application) => {
    const { status, tier, cohort, selectedTier1Partner, selectedTier2Partner, queuedAt, id } = application
    const isTier1 = sql`selected_tier1_partner is not null`
    const isTier2 = sql`selected_tier2_partner is not null`
    // Indexes of the queue: one per combination of filters.
    return [
      index('lending_applications_merchant').on(application.merchantId, id),
      // For the limit of open applications per merchant.
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

/** History of an application; append-only. */
export const lendingEvents = table(
  'lending_events',
  {
    id: text('id').primaryKey(),
    applicationId: applicationId(),
    /** Sequence from 1 per application, because clocks of processes differ. */
    position: int('position').notNull(),
    type: enumText('type', ['CREATED', 'UPDATED', 'SUBMITTED', 'WITHDRAWN', 'DECIDED', 'DOCUMENT_UPLOADED', 'DOCUMENT_REMOVED']).notNull(),
    /** Null where there was none. */
    fromStatus: status('from_status'),
    toStatus: status('to_status').notNull(),
    /** Id of the person. */
    actor: text('actor').notNull(),
    /** Key of a document, or names of updated fields. */
    subject: text('subject'),
    reason: text('reason'),
    partnerExternalRef: text('partner_external_ref'),
    at: instant('at').notNull(),
  },
  (event) => [uniqueIndex('lending_events_position').on(event.applicationId, event.position)],
)

/** Decisions of operators, with the rules' verdict if figures were given. Append-only. */
export const lendingDecisions = table(
  'lending_decisions',
  {
    id: text('id').primaryKey(),
    applicationId: applicationId(),
    decision: decision('decision').notNull(),
    /** Inputs and verdict of the rules as exact JSON text; null together with the version. */
    assessment: text('assessment'),
    envelope: text('envelope'),
    ruleVersion: text('rule_version'),
    actor: text('actor').notNull(),
    at: instant('at').notNull(),
  },
  (decision) => [index('lending_decisions_application').on(decision.applicationId, decision.id)],
)

/** Uploaded documents: one per checklist key. Replaced and deleted ones have no row. */
export const lendingDocuments = table(
  'lending_documents',
  {
    id: text('id').primaryKey(),
    applicationId: applicationId(),
    key: text('key').notNull(),
    /** Store: the data directory or a bucket. */
    store: enumText('store', ['FILES', 'S3']).notNull(),
    /** Random, without information about the merchant. */
    storageName: text('storage_name').notNull(),
    mimeType: text('mime_type').notNull(),
    /** Unsealed bytes. */
    size: money('size').notNull(),
    /** HMAC-SHA-256 of the content in hex. */
    hash: text('hash').notNull(),
    /** File name of the sender; null without one. */
    originalName: text('original_name'),
    /** The file's secret, sealed under a master key: a key rotation changes rows, not files. */
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
 * Stores of the database's documents. The mark is the name of a file in the store; a store without it is another one.
 */
export const registeredStores = table('document_stores', {
  kind: enumText('kind', ['FILES', 'S3', 'MEDIA_FILES', 'MEDIA_S3']).primaryKey(),
  mark: text('mark').notNull(),
  registeredAt: instant('registered_at').notNull(),
})

/** Lenders. Loans and repayments refer to them in any status. */
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

/** Status history of lenders: attestations count while their lender was `ACTIVE`. Append-only. */
export const lenderStatusHistory = table(
  'lender_status_history',
  {
    id: text('id').primaryKey(),
    lenderId: lenderId(),
    /** From 1 per lender. */
    position: int('position').notNull(),
    status: lenderStatus('status').notNull(),
    actor: text('actor').notNull(),
    at: instant('at').notNull(),
  },
  (entry) => [uniqueIndex('lender_status_history_position').on(entry.lenderId, entry.position)],
)

/** Repayments as operators record them. A wrong one is reversed by its own entry, and stays. */
export const repayments = table(
  'repayments',
  {
    id: text('id').primaryKey(),
    merchantId: merchantId(),
    lenderId: lenderId(),
    loanRef: text('loan_ref').notNull(),
    outcome: enumText('outcome', ['ON_TIME', 'LATE', 'DEFAULT']).notNull(),
    /** US cents. */
    amountUsd: money('amount_usd').notNull(),
    dueAt: instant('due_at').notNull(),
    settledAt: instant('settled_at'),
    /** Effective time: `settledAt`, otherwise `dueAt`. */
    datedAt: instant('dated_at').notNull(),
    source: enumText('source', ['OPERATOR', 'IMPORT', 'ATTESTATION']).notNull(),
    recordedBy: text('recorded_by').notNull(),
    recordedAt: instant('recorded_at').notNull(),
    /** Set by the reversal: the repayment no longer counts and its key is free. */
    reversedAt: instant('reversed_at'),
  },
  (repayment) => [
    uniqueIndex('repayments_key').on(repayment.lenderId, repayment.loanRef, repayment.dueAt).where(sql`reversed_at is null`),
    index('repayments_merchant').on(repayment.merchantId, repayment.id),
    // The lender's next file may repeat a reversed repayment.
    index('repayments_reversed').on(repayment.lenderId, repayment.loanRef, repayment.dueAt).where(sql`reversed_at is not null`),
    index('repayments_lender').on(repayment.lenderId, repayment.id),
    index('repayments_loan').on(repayment.loanRef, repayment.id),
    index('repayments_outcome').on(repayment.outcome, repayment.id),
    index('repayments_defaults').on(repayment.merchantId, repayment.datedAt).where(sql`outcome = 'DEFAULT' and reversed_at is null`),
    // To find a merchant's remaining and latest repayments after a reversal.
    index('repayments_merchant_lender').on(repayment.merchantId, repayment.lenderId).where(sql`reversed_at is null`),
    index('repayments_settled').on(repayment.merchantId, repayment.settledAt).where(sql`reversed_at is null`),
  ],
)

/** Reversals: one per repayment. Append-only. */
export const repaymentReversals = table(
  'repayment_reversals',
  {
    id: text('id').primaryKey(),
    repaymentId: reference('repayment_id', () => repayments.id),
    reason: text('reason').notNull(),
    recordedBy: text('recorded_by').notNull(),
    recordedAt: instant('recorded_at').notNull(),
  },
  (reversal) => [uniqueIndex('repayment_reversals_repayment').on(reversal.repaymentId)],
)

/**
 * Totals of a merchant's repayments without reversed ones. Updated in their writes, so that previews need not count.
 */
export const merchantRepaymentSignals = table('merchant_repayment_signals', {
  merchantId: merchantId().primaryKey(),
  totalOnTime: int('total_on_time').notNull(),
  totalLate: int('total_late').notNull(),
  totalDefaults: int('total_defaults').notNull(),
  lenderCount: int('lender_count').notNull(),
  mostRecentSettlementAt: instant('most_recent_settlement_at'),
  updatedAt: instant('updated_at').notNull(),
})

/** Defaults of a merchant per day. */
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

/** The same per sixteen days: a year takes about fifty rows of both. */
export const merchantDefaultBlocks = table(
  'merchant_default_blocks',
  {
    merchantId: merchantId(),
    /** Blocks of sixteen days since the epoch, UTC. */
    block: int('block').notNull(),
    defaults: int('defaults').notNull(),
  },
  (entry) => [primaryKey({ columns: [entry.merchantId, entry.block] })],
)

/** Versions of the decision rules as JSON text, so that decisions can be verified. Append-only. */
export const lendingRuleVersions = table('lending_rule_versions', {
  version: text('version').primaryKey(),
  rules: text('rules').notNull(),
  /** First decision with these rules. */
  firstUsedAt: instant('first_used_at').notNull(),
})
