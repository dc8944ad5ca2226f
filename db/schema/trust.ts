import { sql } from 'drizzle-orm'
import { bool, index, instant, int, money, primaryKey, table, text, uniqueIndex, word } from '../columns.ts'
import { lenders } from './lending.ts'

/** Of Ethereum, in hex with 0x, in lower case: addresses of 20 bytes, hashes and uids of 32. */
const hex = text
const schema = (name: string) => word(name, ['A', 'B', 'C', 'D'])
const providerStatus = (name: string) => word(name, ['PENDING_REVIEW', 'ACTIVE', 'SUSPENDED', 'ARCHIVED'])
const owner = (name: string) => word(name, ['PLATFORM', 'LENDER', 'PROVIDER'])
/** Block numbers outgrow 32 bits on some chains, and chain ids are any number below 2^53. */
const number = money

/** Warehouses, carriers and the like: whoever sends ingestion messages, and attests what they have seen. */
export const serviceProviders = table(
  'service_providers',
  {
    id: text('id').primaryKey(),
    displayName: text('display_name').notNull(),
    archetype: word('archetype', ['generic', 'warehouse', 'third_party_logistics', 'cross_border']).notNull(),
    status: providerStatus('status').notNull(),
    /** Of their messages' signatures, sealed: the newest, and behind a space the one before it. */
    sealedSecret: text('sealed_secret').notNull(),
    /** Until when the one before it is heard; null: there is none. */
    previousSecretUntil: instant('previous_secret_until'),
    successfulIngestionCount: number('successful_ingestion_count').notNull(),
    /** 0: none yet. Both engines sort numbers alike, and nothing not. */
    lastSuccessfulIngestionAt: instant('last_successful_ingestion_at').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: int('version').notNull(),
  },
  (provider) => [
    index('service_providers_status').on(provider.status, provider.id),
    // What is recommended, in its order: of all, and of an archetype. Not partial, so that SQLite takes them without having counted anything.
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

/** What a service provider was from when on, as that of lenders. Appended only. */
export const serviceProviderStatusHistory = table(
  'service_provider_status_history',
  {
    id: text('id').primaryKey(),
    serviceProviderId: text('service_provider_id')
      .notNull()
      .references(() => serviceProviders.id),
    /** From 1 for each provider. */
    position: int('position').notNull(),
    status: providerStatus('status').notNull(),
    actor: text('actor').notNull(),
    at: instant('at').notNull(),
  },
  (entry) => [uniqueIndex('service_provider_status_history_position').on(entry.serviceProviderId, entry.position)],
)

/** Messages of service providers that were taken: one row a message, however often it was sent. */
export const ingestions = table(
  'ingestions',
  {
    serviceProviderId: text('service_provider_id')
      .notNull()
      .references(() => serviceProviders.id),
    /** The sender's name of the message. */
    webhookId: text('webhook_id').notNull(),
    receivedAt: instant('received_at').notNull(),
    /** As it was sent; empty once it was kept for long enough. */
    payload: text('payload').notNull(),
  },
  (ingestion) => [
    primaryKey({ columns: [ingestion.serviceProviderId, ingestion.webhookId] }),
    // What is to be emptied, the oldest first.
    index('ingestions_kept').on(ingestion.receivedAt).where(sql`payload <> ''`),
  ],
)

/** How a lender assesses, as a document that a hash names: one is active a lender. */
export const methodologies = table(
  'methodologies',
  {
    id: text('id').primaryKey(),
    lenderId: text('lender_id')
      .notNull()
      .references(() => lenders.id),
    /** The lender's own name of it. */
    methodologyVersion: text('methodology_version').notNull(),
    contentHash: hex('content_hash').notNull(),
    documentUrl: text('document_url').notNull(),
    status: word('status', ['ACTIVE', 'SUPERSEDED', 'REVOKED']).notNull(),
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

/** Who may attest from a wallet, from when until when. No two of one address cover the same moment. */
export const attesterWallets = table(
  'attester_wallets',
  {
    id: text('id').primaryKey(),
    owner: owner('owner').notNull(),
    /** Of a lender or a service provider; the platform has none. */
    ownerId: text('owner_id'),
    address: hex('address').notNull(),
    fromAt: instant('from_at').notNull(),
    /** Excluded; null: until further notice. */
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

/** Every address that a wallet ever had: what these attest is kept, whether or not it counts. Appended only. */
export const attesterAddresses = table('attester_addresses', {
  address: hex('address').primaryKey(),
  registeredAt: instant('registered_at').notNull(),
})

/**
 * For which schema an address counts, from when until when: where a wallet's period and the times in which its owner was `ACTIVE` meet
 * (the platform always is). Follows from wallets and status histories, and is kept in the write of either; never two of an address and a schema
 * that overlap or touch.
 */
export const grants = table(
  'grants',
  {
    address: hex('address').notNull(),
    schema: schema('schema').notNull(),
    /** Milliseconds, like the times of blocks here. */
    fromAt: instant('from_at').notNull(),
    /** Excluded; null: until further notice. */
    toAt: instant('to_at'),
  },
  (grant) => [primaryKey({ columns: [grant.address, grant.schema, grant.fromAt] })],
)

/** One row: raised by every change of wallet addresses or grants, in its write. Whoever filters logs by them looks at it in their own. */
export const trustRegistry = table('trust_registry', {
  id: int('id').primaryKey(),
  generation: number('generation').notNull(),
})

/** What the statistics say, kept in the writes of what they count. */
export const trustCounts = table(
  'trust_counts',
  {
    name: word('name', [
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
    /** Attestations are counted by chain, so that two of them wait for nobody; 0 for all else. */
    chainId: number('chain_id').notNull(),
    value: number('value').notNull(),
  },
  (count) => [primaryKey({ columns: [count.name, count.chainId] })],
)

/** Attestations by addresses that a wallet ever had, as the chain has them. */
export const attestations = table(
  'attestations',
  {
    chainId: number('chain_id').notNull(),
    uid: hex('uid').notNull(),
    schema: schema('schema').notNull(),
    attester: hex('attester').notNull(),
    /** Whether it is of the attester itself: of schema D such a one does not count. */
    isOfSelf: bool('is_of_self').notNull(),
    blockNumber: number('block_number').notNull(),
    blockAt: instant('block_at').notNull(),
    /** Where it was revoked; null: it is not. */
    revokedBlock: number('revoked_block'),
    /** Whether the statistics count it: what `isCounted` says of it and the grants. */
    isCounted: bool('is_counted').notNull(),
    /** Made up by `souk demo`; no chain has it. */
    isDemo: bool('is_demo').notNull(),
  },
  (attestation) => [
    primaryKey({ columns: [attestation.chainId, attestation.uid] }),
    index('attestations_attester').on(attestation.attester, attestation.schema, attestation.blockAt),
    index('attestations_block').on(attestation.chainId, attestation.blockNumber),
    index('attestations_revoked').on(attestation.chainId, attestation.revokedBlock).where(sql`revoked_block is not null`),
  ],
)

/** Revocations of which the attestation is not here yet: a backfill may bring it after them. */
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

/** Attestations of schema C by lenders that were looked at, as repayments of their loans. */
export const attestedRepayments = table(
  'attested_repayments',
  {
    chainId: number('chain_id').notNull(),
    uid: hex('uid').notNull(),
    /** What was recorded of it; null: it fits no merchant, or cannot be recorded. */
    repaymentId: text('repayment_id'),
    at: instant('at').notNull(),
  },
  (attested) => [primaryKey({ columns: [attested.chainId, attested.uid] })],
)

/** How far each chain is read. */
export const chainSyncs = table('chain_syncs', {
  chainId: number('chain_id').primaryKey(),
  contract: hex('contract').notNull(),
  startBlock: number('start_block').notNull(),
  /** The last block that is counted, with its hash and time; `startBlock - 1` and null before the first. */
  countedTo: number('counted_to').notNull(),
  countedToHash: hex('counted_to_hash'),
  countedToAt: instant('counted_to_at'),
  /** The newest block that a node told of, and the one up to which may be counted. */
  head: number('head'),
  target: number('target'),
  /** The host that answered last: the rest of its URL may hold a key. */
  provider: text('provider'),
  syncedAt: instant('synced_at'),
  lastError: text('last_error'),
  lastErrorAt: instant('last_error_at'),
  /** Why nothing is read any more until an operator says so. */
  haltedBecause: text('halted_because'),
  haltedAt: instant('halted_at'),
  /** When the last one began. */
  rescannedAt: instant('rescanned_at'),
  rescannedTo: number('rescanned_to'),
  /** Where the rescan that is under way ends, included; null: none is. */
  rescanEnd: number('rescan_end'),
  /** What the last rescan found otherwise than it is here: logs that are missing here, and logs that nobody else has. */
  rescanMissing: number('rescan_missing'),
  rescanUnknown: number('rescan_unknown'),
  leaseHolder: text('lease_holder'),
  leaseUntil: instant('lease_until'),
})

/** Blocks that were read up to, newest kept: by their hashes a reorg is found, and the last block that still stands. */
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

/** Addresses of which blocks that were passed already are to be read again: they were registered, or moved back, after those were read. */
export const chainBackfills = table(
  'chain_backfills',
  {
    id: text('id').primaryKey(),
    chainId: number('chain_id').notNull(),
    address: hex('address').notNull(),
    /** The last block of it that is read; null: not begun. */
    readTo: number('read_to'),
    /** Where it ends, included; null: not begun. */
    lastBlock: number('last_block'),
    /** From when on the address is to be read. */
    fromAt: instant('from_at').notNull(),
    queuedAt: instant('queued_at').notNull(),
  },
  (backfill) => [
    index('chain_backfills_chain').on(backfill.chainId, backfill.id),
    uniqueIndex('chain_backfills_address').on(backfill.chainId, backfill.address, backfill.fromAt),
  ],
)
