import { asc, desc, eq, inArray, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { insertNewOf, insertOf, lockedRowsOf, prepare, rowsOf } from '../../../../db/prepared.ts'
import { ingestions, serviceProviderStatusHistory, serviceProviders } from '../../../../db/schema/trust.ts'
import { createStateMachine } from '../../../core/state-machine.ts'
import type { PageSlice } from '../../../lib/page.ts'
import {
  type Archetype,
  type ProviderStatus,
  type ProviderStatusEntry,
  providerStatuses,
  providerTransitions,
  type RankedProvider,
  type ServiceProvider,
} from './domain.ts'

const byId = rowsOf(serviceProviders, ['id'])
const lockedById = lockedRowsOf(serviceProviders, ['id'])
const historyOf = rowsOf(serviceProviderStatusHistory, ['serviceProviderId'], asc(serviceProviderStatusHistory.position))
const incrementCount = prepare((queries) =>
  queries
    .update(serviceProviders)
    .set({
      successfulIngestionCount: sql`${serviceProviders.successfulIngestionCount} + 1`,
      lastSuccessfulIngestionAt: sql`case when ${serviceProviders.lastSuccessfulIngestionAt} < ${sql.placeholder('at')} then ${sql.placeholder('at')} else ${serviceProviders.lastSuccessfulIngestionAt} end`,
    })
    .where(eq(serviceProviders.id, sql.placeholder('which'))),
)
const transitions = createStateMachine(serviceProviders, providerTransitions)
/** One entry per target status. A transition that the table does not allow does not compile. */
const moveTo = {
  ACTIVE: (tx: Writer, provider: ServiceProvider, fields: Partial<ServiceProvider>) =>
    transitions.move(tx, provider, ['PENDING_REVIEW', 'SUSPENDED'], 'ACTIVE', fields),
  SUSPENDED: (tx: Writer, provider: ServiceProvider, fields: Partial<ServiceProvider>) =>
    transitions.move(tx, provider, ['ACTIVE'], 'SUSPENDED', fields),
  ARCHIVED: (tx: Writer, provider: ServiceProvider, fields: Partial<ServiceProvider>) =>
    transitions.move(tx, provider, ['SUSPENDED'], 'ARCHIVED', fields),
}

const { id, displayName, archetype, successfulIngestionCount, lastSuccessfulIngestionAt } = serviceProviders
/** Follows the order of the index, so that nothing is sorted. */
const prepareRanked = (isOf = sql`true`) =>
  prepare((queries) =>
    queries
      .select({ id, displayName, archetype, successfulIngestionCount, lastSuccessfulIngestionAt })
      .from(serviceProviders)
      .where(sql`status = 'ACTIVE' and ${isOf}`)
      .orderBy(sql`successful_ingestion_count desc`, sql`last_successful_ingestion_at desc`, asc(id))
      .limit(sql.placeholder('limit')),
  )
const rankedOfAll = prepareRanked()
const rankedOf = prepareRanked(eq(archetype, sql.placeholder('of')))

export const createServiceProviderStore = ({ read }: Pick<Database, 'read'>) => ({
  find: async (which: string): Promise<ServiceProvider | undefined> => read.first(byId, { id: which }),
  /** Locks the row. */
  locked: async (tx: Writer, which: string): Promise<ServiceProvider | undefined> => tx.first(lockedById, { id: which }),
  /** Newest first. */
  list: (status: ProviderStatus | undefined, slice: PageSlice) =>
    selectSlice(read, serviceProviders, { where: status && eq(serviceProviders.status, status), order: [desc(id)], ...slice }),
  /** Lists active providers in the order of recommendation. */
  async ranked(of: Archetype | 'all', limit: number): Promise<RankedProvider[]> {
    return of === 'all' ? read.all(rankedOfAll, { limit }) : read.all(rankedOf, { limit, of })
  },
  insert: insertOf(serviceProviders),
  /** Moves a locked provider. Returns undefined if the transition is not allowed. */
  move: (
    tx: Writer,
    provider: ServiceProvider,
    to: ProviderStatus,
    fields: Partial<ServiceProvider>,
  ): Promise<ServiceProvider | undefined> => (to === 'PENDING_REVIEW' ? Promise.resolve(undefined) : moveTo[to](tx, provider, fields)),
  /** Changes fields other than the status. */
  change: (tx: Writer, provider: ServiceProvider, fields: Partial<ServiceProvider>) =>
    transitions.change(tx, provider, providerStatuses, fields),
  insertEntry: insertOf(serviceProviderStatusHistory),
  /** Oldest first. */
  async historyOf(serviceProviderId: string, from: Pick<Reader, 'all'> = read): Promise<ProviderStatusEntry[]> {
    return from.all(historyOf, { serviceProviderId })
  },
  async historiesOf(ids: readonly string[]): Promise<Map<string, ProviderStatusEntry[]>> {
    if (ids.length === 0) return new Map()
    const rows = await read
      .select()
      .from(serviceProviderStatusHistory)
      .where(inArray(serviceProviderStatusHistory.serviceProviderId, [...ids]))
      .orderBy(asc(serviceProviderStatusHistory.serviceProviderId), asc(serviceProviderStatusHistory.position))
    return Map.groupBy(rows, ({ serviceProviderId }) => serviceProviderId)
  },
  /** Stores a message. Returns false if it exists. */
  insertOnce: insertNewOf(ingestions),
  /** Empties the oldest payloads from before a moment. Returns how many. */
  async emptyPayloads(tx: Writer, before: number, limit: number): Promise<number> {
    const rows = await tx.rows(
      sql`update ingestions set payload = '' where (service_provider_id, webhook_id) in
          (select service_provider_id, webhook_id from ingestions where payload <> '' and received_at < ${before}
            order by received_at limit ${limit}) returning 1 as done`,
    )
    return rows.length
  },
  /** Counts a message and its time. */
  async addIngestion(tx: Writer, which: string, at: number): Promise<void> {
    await tx.run(incrementCount as never, { which, at })
  },
})
