import { and, asc, desc, eq, gte, inArray, lt, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { insertNewOf, insertOf, prepare, rowsOf } from '../../../../db/prepared.ts'
import { lenderStatusHistory } from '../../../../db/schema/lending.ts'
import {
  attestations,
  attesterAddresses,
  attesterWallets,
  chainBackfills,
  chainSyncs,
  grants,
  serviceProviderStatusHistory,
  trustCounts,
  trustRegistry,
} from '../../../../db/schema/trust.ts'
import type { PageSlice } from '../../../lib/page.ts'
import type { CountName, Grant, Holder, Wallet } from './domain.ts'

type ChainSync = typeof chainSyncs.$inferSelect
type StatusEntry = { ownerId: string; status: string; at: number }

const walletById = rowsOf(attesterWallets, ['id'])
const platformWallets = rowsOf(attesterWallets, ['owner'])
const walletsOf = rowsOf(attesterWallets, ['owner', 'ownerId'], asc(attesterWallets.address), asc(attesterWallets.fromAt))
const insertGrant = insertOf(grants)
const insertAddress = insertNewOf(attesterAddresses)
const raise = prepare((queries) =>
  queries
    .update(trustRegistry)
    .set({ generation: sql`${trustRegistry.generation} + 1` })
    .where(eq(trustRegistry.id, 1)),
)
const generation = prepare((queries) =>
  queries.select({ generation: trustRegistry.generation }).from(trustRegistry).where(eq(trustRegistry.id, 1)),
)
const allGrants = prepare((queries) => queries.select().from(grants).orderBy(asc(grants.address), asc(grants.schema), asc(grants.fromAt)))
const allChains = prepare((queries) => queries.select().from(chainSyncs).orderBy(asc(chainSyncs.chainId)))
const allCounts = prepare((queries) => queries.select().from(trustCounts))
const addCount = prepare((queries) =>
  queries
    .insert(trustCounts)
    .values({ name: sql.placeholder('name'), chainId: sql.placeholder('chainId'), value: sql.placeholder('value') } as never)
    .onConflictDoUpdate({
      target: [trustCounts.name, trustCounts.chainId],
      set: { value: sql`${trustCounts.value} + excluded.value` },
    }),
)

/** `isCounted` of the domain, as SQL. Columns are qualified, since grants have columns of the same names. */
const countsSql = sql`(attestations.revoked_block is null and not (attestations.schema = 'D' and attestations.is_of_self)
  and exists (select 1 from grants g where g.address = attestations.attester and g.schema = attestations.schema
    and g.from_at <= attestations.block_at and (g.to_at is null or g.to_at > attestations.block_at)))`
/** Attestations per statement, so that a database server does not end it for its duration. */
const attestationsBatch = 20_000

export const createTrustStore = ({ read, version }: Pick<Database, 'read' | 'version'>) => ({
  /**
   * Raises the generation and locks the registry until the write ends. Runs after the locks of owners and before
   * anything else of a registry change.
   */
  async raise(tx: Writer): Promise<void> {
    await tx.run(raise as never)
  },
  findWallet: async (id: string, from: Pick<Reader, 'first'> = read): Promise<Wallet | undefined> => from.first(walletById, { id }),
  /** By address and time. */
  async walletsOf({ owner, ownerId }: Holder, from: Pick<Reader, 'all'> = read): Promise<Wallet[]> {
    return ownerId === null ? from.all(platformWallets, { owner }) : from.all(walletsOf, { owner, ownerId })
  },
  /** By owner id. */
  async walletsOfAll(owner: Holder['owner'], ownerIds: readonly string[]): Promise<Map<string | null, Wallet[]>> {
    if (ownerIds.length === 0) return new Map()
    const rows = await read
      .select()
      .from(attesterWallets)
      .where(and(eq(attesterWallets.owner, owner), inArray(attesterWallets.ownerId, [...ownerIds])))
      .orderBy(asc(attesterWallets.address), asc(attesterWallets.fromAt))
    return Map.groupBy(rows, ({ ownerId }) => ownerId)
  },
  /** Newest first. */
  listPlatformWallets: (slice: PageSlice) =>
    selectSlice(read, attesterWallets, { where: eq(attesterWallets.owner, 'PLATFORM'), order: [desc(attesterWallets.id)], ...slice }),
  /** Reads all wallets of these addresses, of any owner. */
  walletsAt: (addresses: readonly string[], from: Pick<Reader, 'select'> = read): Promise<Wallet[]> =>
    from
      .select()
      .from(attesterWallets)
      .where(inArray(attesterWallets.address, [...addresses])),
  async removeWallets(tx: Writer, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await tx.delete(attesterWallets).where(inArray(attesterWallets.id, [...ids]))
  },
  insertWallet: insertOf(attesterWallets),
  async changeWallet(tx: Writer, { id, address, fromAt, toAt, updatedAt, version }: Wallet): Promise<void> {
    await tx.update(attesterWallets).set({ address, fromAt, toAt, updatedAt, version }).where(eq(attesterWallets.id, id))
  },
  /** Reads status histories in the order of writing, by owner. */
  async historiesOf(tx: Writer, owner: 'LENDER' | 'PROVIDER', ownerIds: readonly string[]): Promise<Map<string, StatusEntry[]>> {
    if (ownerIds.length === 0) return new Map()
    const ids = [...ownerIds]
    const rows: StatusEntry[] =
      owner === 'LENDER'
        ? await tx
            .select({ ownerId: lenderStatusHistory.lenderId, status: lenderStatusHistory.status, at: lenderStatusHistory.at })
            .from(lenderStatusHistory)
            .where(inArray(lenderStatusHistory.lenderId, ids))
            .orderBy(asc(lenderStatusHistory.position))
        : await tx
            .select({
              ownerId: serviceProviderStatusHistory.serviceProviderId,
              status: serviceProviderStatusHistory.status,
              at: serviceProviderStatusHistory.at,
            })
            .from(serviceProviderStatusHistory)
            .where(inArray(serviceProviderStatusHistory.serviceProviderId, ids))
            .orderBy(asc(serviceProviderStatusHistory.position))
    return Map.groupBy(rows, ({ ownerId }) => ownerId)
  },
  /** In the order of `registryHash`. */
  async grantsOfAddresses(addresses: readonly string[], from: Pick<Reader, 'select'> = read): Promise<Grant[]> {
    if (addresses.length === 0) return []
    return from
      .select()
      .from(grants)
      .where(inArray(grants.address, [...addresses]))
      .orderBy(asc(grants.address), asc(grants.schema), asc(grants.fromAt))
  },
  async replaceGrants(tx: Writer, addresses: readonly string[], next: readonly Grant[]): Promise<void> {
    await tx.delete(grants).where(inArray(grants.address, [...addresses]))
    for (const grant of next) await insertGrant(tx, grant)
  },
  /** Returns false if the address was registered before. */
  register: async (tx: Writer, address: string, registeredAt: number): Promise<boolean> => insertAddress(tx, { address, registeredAt }),
  /** Returns the chains whose counted blocks reach that moment. */
  async chainsReadPast(tx: Writer, at: number): Promise<number[]> {
    const rows = await tx
      .select({ chainId: chainSyncs.chainId })
      .from(chainSyncs)
      .where(sql`${chainSyncs.countedToAt} >= ${at}`)
      .orderBy(asc(chainSyncs.chainId))
    return rows.map(({ chainId }) => chainId)
  },
  queueBackfill: insertOf(chainBackfills, 'leave'),
  /** Returns false if it exists. */
  insertAttestation: insertNewOf(attestations),
  /**
   * Recounts the attestations of an address and schema from a moment on.
   * @returns the changes of the counts, by chain
   */
  async recount(tx: Writer, { address, schema, fromAt }: Pick<Grant, 'address' | 'schema' | 'fromAt'>): Promise<Map<number, number>> {
    const isOfGrant = and(eq(attestations.attester, address), eq(attestations.schema, schema))
    const changes = new Map<number, number>()
    for (let from = fromAt; ; ) {
      const [next] = await tx
        .select({ blockAt: attestations.blockAt })
        .from(attestations)
        .where(and(isOfGrant, gte(attestations.blockAt, from)))
        .orderBy(asc(attestations.blockAt))
        .limit(1)
        .offset(attestationsBatch)
      const end = next && Math.max(next.blockAt, from + 1)
      const differs = and(
        isOfGrant,
        gte(attestations.blockAt, from),
        end === undefined ? undefined : lt(attestations.blockAt, end),
        sql`attestations.is_counted <> ${countsSql}`,
      )
      const rows = await tx
        .select({ chainId: attestations.chainId, by: sql<number>`sum(case when ${attestations.isCounted} then -1 else 1 end)` })
        .from(attestations)
        .where(differs)
        .groupBy(attestations.chainId)
      for (const row of rows) changes.set(row.chainId, (changes.get(row.chainId) ?? 0) + Number(row.by))
      if (rows.length > 0) await tx.update(attestations).set({ isCounted: sql`not is_counted` }).where(differs)
      if (end === undefined) return changes
      from = end
    }
  },
  async addCount(tx: Writer, name: CountName, chainId: number, value: number): Promise<void> {
    await tx.run(addCount as never, { name, chainId, value })
  },
  async counts() {
    return read.all(allCounts)
  },
  /** Returns undefined if the engine cannot read synchronously. */
  countsSync() {
    // An engine without a version reads asynchronously.
    const counts = version() === undefined ? undefined : read.all(allCounts)
    return Array.isArray(counts) ? counts : undefined
  },
  /** Reads how far each chain is read, with the generation of the registry in the same snapshot. */
  async progress(): Promise<{ generation: number; chains: ChainSync[] }> {
    const [found, chains] = await read.inSnapshot(() => Promise.all([read.first(generation), read.all(allChains)]))
    return { generation: found?.generation ?? 0, chains }
  },
  /** Reads all grants in the order of `registryHash`, with chains and generation of the same snapshot. */
  async registry(): Promise<{ generation: number; grants: Grant[]; chains: ChainSync[] }> {
    const [found, rows, chains] = await read.inSnapshot(() =>
      Promise.all([read.first(generation), read.all(allGrants), read.all(allChains)]),
    )
    return { generation: found?.generation ?? 0, grants: rows, chains }
  },
})
