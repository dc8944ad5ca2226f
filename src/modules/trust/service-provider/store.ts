import { asc, desc, eq, inArray, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { insertOf, lockedRowsOf, prepare, rowsOf } from '../../../../db/prepared.ts'
import { ingestions, serviceProviderStatusHistory, serviceProviders } from '../../../../db/schema/trust.ts'
import { movesOf } from '../../../core/state-machine.ts'
import type { Slice } from '../../../lib/page.ts'
import {
  type Archetype,
  type ProviderStatus,
  type ProviderStatusEntry,
  providerStatuses,
  providerTransitions,
  type Ranked,
  type ServiceProvider,
} from './domain.ts'

export type Ingestion = typeof ingestions.$inferSelect

const byId = rowsOf(serviceProviders, ['id'])
const lockedById = lockedRowsOf(serviceProviders, ['id'])
const historyOf = rowsOf(serviceProviderStatusHistory, ['serviceProviderId'], asc(serviceProviderStatusHistory.position))
const insert = insertOf(serviceProviders)
const insertEntry = insertOf(serviceProviderStatusHistory)
const insertIngestion = insertOf(ingestions, 'skip')
const countOne = prepare((queries) =>
  queries
    .update(serviceProviders)
    .set({
      successfulIngestionCount: sql`${serviceProviders.successfulIngestionCount} + 1`,
      lastSuccessfulIngestionAt: sql`case when ${serviceProviders.lastSuccessfulIngestionAt} < ${sql.placeholder('at')} then ${sql.placeholder('at')} else ${serviceProviders.lastSuccessfulIngestionAt} end`,
    })
    .where(eq(serviceProviders.id, sql.placeholder('which'))),
)
const moves = movesOf(serviceProviders, providerTransitions)
/** How each status is entered: from another one it does not compile. */
const entries = {
  ACTIVE: (tx: Writer, provider: ServiceProvider, fields: Partial<ServiceProvider>) =>
    moves.move(tx, provider, ['PENDING_REVIEW', 'SUSPENDED'], 'ACTIVE', fields),
  SUSPENDED: (tx: Writer, provider: ServiceProvider, fields: Partial<ServiceProvider>) =>
    moves.move(tx, provider, ['ACTIVE'], 'SUSPENDED', fields),
  ARCHIVED: (tx: Writer, provider: ServiceProvider, fields: Partial<ServiceProvider>) =>
    moves.move(tx, provider, ['SUSPENDED'], 'ARCHIVED', fields),
}

const { id, displayName, archetype, successfulIngestionCount, lastSuccessfulIngestionAt } = serviceProviders
/** In the order of the indexes: nothing is sorted. */
const ranked = (isOf = sql`true`) =>
  prepare((queries) =>
    queries
      .select({ id, displayName, archetype, successfulIngestionCount, lastSuccessfulIngestionAt })
      .from(serviceProviders)
      .where(sql`status = 'ACTIVE' and ${isOf}`)
      .orderBy(sql`successful_ingestion_count desc`, sql`last_successful_ingestion_at desc`, asc(id))
      .limit(sql.placeholder('limit')),
  )
const rankedOfAll = ranked()
const rankedOf = ranked(eq(archetype, sql.placeholder('of')))

export const createServiceProviderStore = ({ read }: Pick<Database, 'read'>) => ({
  async find(which: string): Promise<ServiceProvider | undefined> {
    return read.first(byId, { id: which })
  },
  /** Locked, for a write that decides by it. */
  async locked(tx: Writer, which: string): Promise<ServiceProvider | undefined> {
    return tx.first(lockedById, { id: which })
  },
  /** Newest first. */
  list: (status: ProviderStatus | undefined, slice: Slice) =>
    selectSlice(read, serviceProviders, { where: status && eq(serviceProviders.status, status), order: [desc(id)], ...slice }),
  /** Those that are active, in the order in which they are recommended. */
  async ranked(of: Archetype | 'all', limit: number): Promise<Ranked[]> {
    return of === 'all' ? read.all(rankedOfAll, { limit }) : read.all(rankedOf, { limit, of })
  },
  async insert(tx: Writer, provider: ServiceProvider): Promise<void> {
    await insert(tx, provider)
  },
  /** Moves a provider that is locked; undefined where its table of transitions does not let it. */
  move: (
    tx: Writer,
    provider: ServiceProvider,
    to: ProviderStatus,
    fields: Partial<ServiceProvider>,
  ): Promise<ServiceProvider | undefined> => (to === 'PENDING_REVIEW' ? Promise.resolve(undefined) : entries[to](tx, provider, fields)),
  /** Changes what is no status. */
  change: (tx: Writer, provider: ServiceProvider, fields: Partial<ServiceProvider>) => moves.change(tx, provider, providerStatuses, fields),
  async insertEntry(tx: Writer, entry: ProviderStatusEntry): Promise<void> {
    await insertEntry(tx, entry)
  },
  /** What a provider was, in its order. */
  async historyOf(serviceProviderId: string, from: Pick<Reader, 'all'> = read): Promise<ProviderStatusEntry[]> {
    return from.all(historyOf, { serviceProviderId })
  },
  /** The same of each of these. */
  async historiesOf(ids: readonly string[]): Promise<Map<string, ProviderStatusEntry[]>> {
    if (ids.length === 0) return new Map()
    const rows = await read
      .select()
      .from(serviceProviderStatusHistory)
      .where(inArray(serviceProviderStatusHistory.serviceProviderId, [...ids]))
      .orderBy(asc(serviceProviderStatusHistory.serviceProviderId), asc(serviceProviderStatusHistory.position))
    return Map.groupBy(rows, ({ serviceProviderId }) => serviceProviderId)
  },
  /** Keeps a message, once. Whether it was not there before. */
  async keep(tx: Writer, ingestion: Ingestion): Promise<boolean> {
    return insertIngestion(tx, ingestion)
  },
  /** Empties the oldest messages that came before a moment and are not yet. Returns how many. */
  async empty(tx: Writer, before: number, limit: number): Promise<number> {
    const rows = await tx.rows(
      sql`update ingestions set payload = '' where (service_provider_id, webhook_id) in
          (select service_provider_id, webhook_id from ingestions where payload <> '' and received_at < ${before}
            order by received_at limit ${limit}) returning 1 as done`,
    )
    return rows.length
  },
  /** One more message, at that time. */
  async count(tx: Writer, which: string, at: number): Promise<void> {
    await tx.run(countOne as never, { which, at })
  },
})
