import { sql } from 'drizzle-orm'
import { bool, enumText, index, instant, int, money, primaryKey, reference, table, text, uniqueIndex } from '../columns.ts'
import { lenders } from './lending.ts'

/** Lower-case hex with 0x: addresses of 20 bytes, hashes and uids of 32. */
const hex = text
const schema = (name: string) => enumText(name, ['A', 'B', 'C', 'D'])
const providerStatus = (name: string) => enumText(name, ['PENDING_REVIEW', 'ACTIVE', 'SUSPENDED', 'ARCHIVED'])
const owner = (name: string) => enumText(name, ['PLATFORM', 'LENDER', 'PROVIDER'])
/** Block numbers exceed 32 bits on some chains; chain ids are below 2^53. */
const number = money

/** Warehouses, carriers and similar: they send ingestion messages and attest their observations. */
export const serviceProviders = table(
  'service_providers',
  {
    id: text('id').primaryKey(),
    displayName: text('display_name').notNull(),
    archetype: enumText('archetype', ['generic', 'warehouse', 'third_party_logistics', 'cross_border']).notNull(),
    status: providerStatus('status').notNull(),
    /** Sealed signing secrets: the newest, then a space and the previous one. */
    sealedSecret: text('sealed_secret').notNull(),
    /** End of the previous secret's validity; null without one. */
    previousSecretUntil: instant('previous_secret_until'),
    successfulIngestionCount: number('successful_ingestion_count').notNull(),
    /** 0: no score, because engines sort null differently. */
    lastSuccessfulIngestionAt: instant('last_successful_ingestion_at').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: int('version').notNull(),
  },
  (provider) => [
    index('service_providers_status').on(provider.status, provider.id),
    // For recommendations: overall and by archetype. Not partial, so that SQLite uses them without statistics.
    index('service_providers_ranked').on(
      provider.status,
      sql`successful_ingestion_count desc`,
      sql`last_successful_ingestion_at desc`,
      provider.id,
    ),
    index('service_providers_ranked_in').on(
      provider.status,
      provider.archetype,
      sql`successful_ingestion_count desc`,
      sql`last_successful_ingestion_at desc`,
      provider.id,
    ),
  ],
)

/** Status history of service providers. Append-only. */
export const serviceProviderStatusHistory = table(
  'service_provider_status_history',
  {
    id: text('id').primaryKey(),
    serviceProviderId: reference('service_provider_id', () => serviceProviders.id),
    /** From 1 per provider. */
    position: int('position').notNull(),
    status: providerStatus('status').notNull(),
    actor: text('actor').notNull(),
    at: instant('at').notNull(),
  },
  (entry) => [uniqueIndex('service_provider_status_history_position').on(entry.serviceProviderId, entry.position)],
)

/** Accepted messages of service providers: one row per message. */
export const ingestions = table(
  'ingestions',
  {
    serviceProviderId: reference('service_provider_id', () => serviceProviders.id),
    /** The sender's message id. */
    webhookId: text('webhook_id').notNull(),
    receivedAt: instant('received_at').notNull(),
    /** As sent; emptied after the retention period. */
    payload: text('payload').notNull(),
  },
  (ingestion) => [
    primaryKey({ columns: [ingestion.serviceProviderId, ingestion.webhookId] }),
    // Rows to empty, oldest first.
    index('ingestions_kept').on(ingestion.receivedAt).where(sql`payload <> ''`),
  ],
)

/** Methodologies of lenders: documents identified by hash. One is active per lender. */
export const methodologies = table(
  'methodologies',
  {
    id: text('id').primaryKey(),
    lenderId: reference('lender_id', () => lenders.id),
    /** The lender's version name. */
    methodologyVersion: text('methodology_version').notNull(),
    contentHash: hex('content_hash').notNull(),
    documentUrl: text('document_url').notNull(),
    status: enumText('status', ['ACTIVE', 'SUPERSEDED', 'REVOKED']).notNull(),
    registeredAt: instant('registered_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: int('version').notNull(),
  },
  (methodology) => [
    uniqueIndex('methodologies_version').on(methodology.lenderId, methodology.methodologyVersion),
    uniqueIndex('methodologies_hash').on(methodology.lenderId, methodology.contentHash),
    uniqueIndex('methodologies_active').on(methodology.lenderId).where(sql`status = 'ACTIVE'`),
  ],
)

/** Wallets that may attest in a period. Periods of one address do not overlap. */
export const attesterWallets = table(
  'attester_wallets',
  {
    id: text('id').primaryKey(),
    owner: owner('owner').notNull(),
    /** The lender or service provider; null for the platform. */
    ownerId: text('owner_id'),
    address: hex('address').notNull(),
    fromAt: instant('from_at').notNull(),
    /** Exclusive end; null: open. */
    toAt: instant('to_at'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: int('version').notNull(),
  },
  (wallet) => [
    index('attester_wallets_address').on(wallet.address, wallet.fromAt),
    index('attester_wallets_owner').on(wallet.owner, wallet.ownerId),
  ],
)

/** All addresses that a wallet ever had; their attestations are stored whether they count or not. Append-only. */
export const attesterAddresses = table('attester_addresses', {
  address: hex('address').primaryKey(),
  registeredAt: instant('registered_at').notNull(),
})

/**
 * Periods in which an address counts for a schema: the intersection of a wallet's period and its owner's `ACTIVE`
 * periods (the platform is always active). Derived from wallets and status histories in their writes. Periods of one
 * address and schema do not touch.
 */
export const grants = table(
  'grants',
  {
    address: hex('address').notNull(),
    schema: schema('schema').notNull(),
    /** Milliseconds, as block times here. */
    fromAt: instant('from_at').notNull(),
    /** Exclusive end; null: open. */
    toAt: instant('to_at'),
  },
  (grant) => [primaryKey({ columns: [grant.address, grant.schema, grant.fromAt] })],
)

/**
 * One row that increases with every change of wallet addresses or grants. Writers that filter logs by them compare it.
 */
export const trustRegistry = table('trust_registry', {
  id: int('id').primaryKey(),
  generation: number('generation').notNull(),
})

/** Statistics, maintained by the writes that they count. */
export const trustCounts = table(
  'trust_counts',
  {
    name: enumText('name', [
      'lenders.total',
      'lenders.active',
      'serviceProviders.total',
      'serviceProviders.active',
      'methodologies.totalLenders',
      'methodologies.activeVersions',
      'attestations.A',
      'attestations.B',
      'attestations.C',
      'attestations.D',
    ]).notNull(),
    /** Attestations count by chain, so that chains do not contend; 0 for others. */
    chainId: number('chain_id').notNull(),
    value: number('value').notNull(),
  },
  (count) => [primaryKey({ columns: [count.name, count.chainId] })],
)

/** Attestations by known addresses, as on the chain. */
export const attestations = table(
  'attestations',
  {
    chainId: number('chain_id').notNull(),
    uid: hex('uid').notNull(),
    schema: schema('schema').notNull(),
    attester: hex('attester').notNull(),
    /** Whether attester and subject are equal: schema D does not count those. */
    isOfSelf: bool('is_of_self').notNull(),
    blockNumber: number('block_number').notNull(),
    blockAt: instant('block_at').notNull(),
    /** Block of the revocation; null if none. */
    revokedBlock: number('revoked_block'),
    /** Whether the statistics include it: `isCounted` with the grants. */
    isCounted: bool('is_counted').notNull(),
    /** Created by `souk demo`; not on a chain. */
    isDemo: bool('is_demo').notNull(),
  },
  (attestation) => [
    primaryKey({ columns: [attestation.chainId, attestation.uid] }),
    index('attestations_attester').on(attestation.attester, attestation.schema, attestation.blockAt),
    index('attestations_block').on(attestation.chainId, attestation.blockNumber),
    index('attestations_revoked').on(attestation.chainId, attestation.revokedBlock).where(sql`revoked_block is not null`),
  ],
)

/** Revocations of attestations that are not stored yet; a backfill may add them. */
export const revocations = table(
  'revocations',
  {
    chainId: number('chain_id').notNull(),
    uid: hex('uid').notNull(),
    attester: hex('attester').notNull(),
    blockNumber: number('block_number').notNull(),
  },
  (revocation) => [
    primaryKey({ columns: [revocation.chainId, revocation.uid] }),
    index('revocations_block').on(revocation.chainId, revocation.blockNumber),
  ],
)

/** Attestations of schema C by lenders that were processed as repayments. */
export const attestedRepayments = table(
  'attested_repayments',
  {
    chainId: number('chain_id').notNull(),
    uid: hex('uid').notNull(),
    /** The recorded repayment; null if it matches no merchant or cannot be recorded. */
    repaymentId: text('repayment_id'),
    at: instant('at').notNull(),
  },
  (attested) => [primaryKey({ columns: [attested.chainId, attested.uid] })],
)

/** Reading position of each chain. */
export const chainSyncs = table('chain_syncs', {
  chainId: number('chain_id').primaryKey(),
  contract: hex('contract').notNull(),
  startBlock: number('start_block').notNull(),
  /** Last counted block with hash and time; `startBlock - 1` and null before the first. */
  countedTo: number('counted_to').notNull(),
  countedToHash: hex('counted_to_hash'),
  countedToAt: instant('counted_to_at'),
  /** Newest block of a node, and the newest final one. */
  head: number('head'),
  target: number('target'),
  /** Host of the last response; the rest of the URL may contain a key. */
  provider: text('provider'),
  syncedAt: instant('synced_at'),
  lastError: text('last_error'),
  lastErrorAt: instant('last_error_at'),
  /** Why reading stopped until an operator acts. */
  haltedBecause: text('halted_because'),
  haltedAt: instant('halted_at'),
  /** Start of the last rescan. */
  rescannedAt: instant('rescanned_at'),
  rescannedTo: number('rescanned_to'),
  /** Inclusive end of the running rescan; null if none. */
  rescanEnd: number('rescan_end'),
  /** Differences that the last rescan found: missing here, and unknown to nodes. */
  rescanMissing: number('rescan_missing'),
  rescanUnknown: number('rescan_unknown'),
  leaseHolder: text('lease_holder'),
  leaseUntil: instant('lease_until'),
})

/** Recently read blocks: their hashes reveal reorgs and the last valid block. */
export const chainCheckpoints = table(
  'chain_checkpoints',
  {
    chainId: number('chain_id').notNull(),
    blockNumber: number('block_number').notNull(),
    blockHash: hex('block_hash').notNull(),
    blockAt: instant('block_at').notNull(),
  },
  (checkpoint) => [primaryKey({ columns: [checkpoint.chainId, checkpoint.blockNumber] })],
)

/** Backfills of addresses that were registered, or moved back in time, after their blocks were read. */
export const chainBackfills = table(
  'chain_backfills',
  {
    id: text('id').primaryKey(),
    chainId: number('chain_id').notNull(),
    address: hex('address').notNull(),
    /** Last block that was read; null: not started. */
    readTo: number('read_to'),
    /** Inclusive end; null: not started. */
    lastBlock: number('last_block'),
    /** First time to read. */
    fromAt: instant('from_at').notNull(),
    queuedAt: instant('queued_at').notNull(),
  },
  (backfill) => [
    index('chain_backfills_chain').on(backfill.chainId, backfill.id),
    uniqueIndex('chain_backfills_address').on(backfill.chainId, backfill.address, backfill.fromAt),
  ],
)
