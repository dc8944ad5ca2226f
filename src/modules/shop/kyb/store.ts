import { and, asc, desc, eq, inArray, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { insertOf, prepare, rowsOf, valuesOf } from '../../../../db/prepared.ts'
import { kybEvents, kybRecords } from '../../../../db/schema/kyb.ts'
import { createStateMachine } from '../../../core/state-machine.ts'
import type { PageSlice } from '../../../lib/page.ts'
import {
  type Business,
  type KybCohort,
  type KybDecision,
  type KybEvent,
  type KybOrder,
  type KybRecord,
  type KybStatus,
  kybTransitions,
} from './domain.ts'

const byId = rowsOf(kybRecords, ['id'])
/** The pending or approved record first, then rejected ones, the last first. */
const currentRecordOf = rowsOf(
  kybRecords,
  ['merchantId'],
  sql`case when ${kybRecords.status} = 'REJECTED' then 1 else 0 end`,
  desc(kybRecords.id),
)
const approvedCohort = prepare((queries) =>
  queries
    .select({ cohort: kybRecords.cohort })
    .from(kybRecords)
    // In the form of the partial index: SQLite would otherwise read the approved records of all merchants.
    .where(and(valuesOf(kybRecords, ['merchantId']), sql`${kybRecords.status} <> 'REJECTED'`, eq(kybRecords.status, 'APPROVED')))
    .limit(1),
)
const transitions = createStateMachine(kybRecords, kybTransitions)

export const createKybStore = ({ read }: Pick<Database, 'read'>) => ({
  find: async (id: string, from: Pick<Reader, 'first'> = read): Promise<KybRecord | undefined> => from.first(byId, { id }),
  /** Finds the merchant's pending or approved record, else the last rejected one. */
  findOf: async (merchantId: string): Promise<KybRecord | undefined> => read.first(currentRecordOf, { merchantId }),
  async approvedCohort(merchantId: string, from: Pick<Reader, 'first'> = read): Promise<KybCohort | undefined> {
    return (await from.first(approvedCohort, { merchantId }))?.cohort
  },
  /** Returns the businesses of merchants with a pending or approved record. */
  async liveOf(merchantIds: readonly string[], from: Pick<Reader, 'select'> = read): Promise<Map<string, Business>> {
    const { id, merchantId, legalName } = kybRecords
    const rows = await from
      .select({ id, merchantId, legalName })
      .from(kybRecords)
      // In the form of the partial index.
      .where(and(inArray(merchantId, [...new Set(merchantIds)]), sql`${kybRecords.status} <> 'REJECTED'`))
    return new Map(rows.map((row) => [row.merchantId, { id: row.id, legalName: row.legalName }]))
  },
  /** By filing date, which the ids contain. */
  list: (status: KybStatus | undefined, order: KybOrder, slice: PageSlice) =>
    selectSlice(read, kybRecords, {
      where: status && eq(kybRecords.status, status),
      order: [order === 'oldest' ? asc(kybRecords.id) : desc(kybRecords.id)],
      ...slice,
    }),
  /** Fails if the merchant has a pending or approved record. */
  insert: insertOf(kybRecords),
  /** Returns the decided record; undefined if it was decided already. */
  decide: (
    tx: Writer,
    id: string,
    decision: KybDecision,
    fields: Pick<KybRecord, 'reason' | 'decidedAt' | 'updatedAt' | 'version'>,
  ): Promise<KybRecord | undefined> => transitions.move(tx, id, ['PENDING'], decision, fields),
  insertEvent: insertOf(kybEvents),
  /** Returns the history of records in order. */
  async eventsOf(recordIds: readonly string[], from: Pick<Reader, 'select'> = read): Promise<Map<string, KybEvent[]>> {
    const rows = await from
      .select()
      .from(kybEvents)
      .where(inArray(kybEvents.recordId, [...recordIds]))
      .orderBy(asc(kybEvents.recordId), asc(kybEvents.position))
    return Map.groupBy(rows, ({ recordId }) => recordId)
  },
})
