import { and, asc, count, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Database, Reader } from '../../../../db/engine.ts'
import { prepare } from '../../../../db/prepared.ts'
import { lendingApplications } from '../../../../db/schema/lending.ts'
import type { PageSlice } from '../../../lib/page.ts'
import type { KybCohort } from '../../shop/kyb/domain.ts'
import { isTier1Partner, type LendingStatus, type LendingTier, queueTotalMax, tierOf } from './domain.ts'
import type { QueuedApplication } from './view.ts'

/** The filter of the queue. `partner` matches a partner of either tier. */
export type QueueFilter = {
  readonly status: LendingStatus
  readonly tier?: LendingTier | undefined
  readonly cohort?: KybCohort | undefined
  readonly partner?: string | undefined
}

const { documentationCompleted: _, ...columns } = getTableColumns(lendingApplications)
type QueuedRow = QueuedApplication & { queuedAt: number }

/** Prepares the statements for a set of columns, so that each set uses its own index and the index order. */
function prepareStatements(names: readonly (keyof QueuedRow)[]) {
  const where = and(...names.map((name) => eq(lendingApplications[name], sql.placeholder(name))))
  const order: [SQL, SQL] = [asc(lendingApplications.queuedAt), asc(lendingApplications.id)]
  return {
    rows: prepare((queries) =>
      queries
        .select(columns)
        .from(lendingApplications)
        .where(where)
        .orderBy(...order)
        .limit(sql.placeholder('limit'))
        .offset(sql.placeholder('offset')),
    ),
    ids: prepare((queries) =>
      queries
        .select({ id: lendingApplications.id })
        .from(lendingApplications)
        .where(where)
        .orderBy(...order)
        .limit(queueTotalMax + 1),
    ),
    counted: prepare((queries) =>
      queries.select({ rows: count() }).from(
        queries
          .select({ one: sql<number>`1`.as('one') })
          .from(lendingApplications)
          .where(where)
          // PostgreSQL scans the table from its start without this order.
          .orderBy(...order)
          .limit(queueTotalMax + 1)
          .as('some'),
      ),
    ),
  }
}
type QueueStatements = ReturnType<typeof prepareStatements>

const statementCache = new Map<string, QueueStatements>()
const statementsFor = (names: readonly (keyof QueuedRow)[]): QueueStatements =>
  statementCache.getOrInsertComputed(names.join(), () => prepareStatements(names))

/** Tier-1 partners have their own column, but a merchant may also enter their name as the Tier-2 partner. */
const partnerColumns = (partner: string | undefined) =>
  partner === undefined
    ? [undefined]
    : isTier1Partner(partner)
      ? (['selectedTier1Partner', 'selectedTier2Partner'] as const)
      : (['selectedTier2Partner'] as const)

export const createQueueStore = ({ read }: Pick<Database, 'read'>) => ({
  /** Lists applications in order of submission, with the total up to `queueTotalMax + 1`. */
  async list(
    { status, tier, cohort, partner }: QueueFilter,
    { limit, offset }: PageSlice,
  ): Promise<{ rows: QueuedApplication[]; total: number }> {
    // Each cohort belongs to one tier.
    if (tier && cohort && tierOf(cohort) !== tier) return { rows: [], total: 0 }
    const kind = cohort ? { cohort } : tier ? { tier } : {}
    const branches = partnerColumns(partner).map((column) => {
      const values = { status, ...kind, ...(column && { [column]: partner }) }
      return { reads: statementsFor(Object.keys(values) as (keyof QueuedRow)[]), values }
    })
    const [first, second] = branches
    if (!first) return { rows: [], total: 0 }
    if (!second) {
      const total = await countOf(read, first)
      if (offset >= Math.min(total, queueTotalMax)) return { rows: [], total }
      return { rows: await read.all(first.reads.rows, { ...first.values, limit, offset }), total }
    }
    // Merges the first rows of two indexes, since an application may match in either column.
    const total = await countUnion(read, first, second)
    if (offset >= Math.min(total, queueTotalMax)) return { rows: [], total }
    const heads = await Promise.all(
      [first, second].map(({ reads, values }) => read.all(reads.rows, { ...values, limit: offset + limit, offset: 0 })),
    )
    const merged = new Map(heads.flat().map((row) => [row.id, row]))
    return { rows: [...merged.values()].sort(compareQueuedAt).slice(offset, offset + limit), total }
  },
})

type Branch = { readonly reads: QueueStatements; readonly values: Readonly<Record<string, unknown>> }

const compareQueuedAt = (a: QueuedRow, b: QueuedRow): number => a.queuedAt - b.queuedAt || (a.id < b.id ? -1 : 1)

const countOf = async (read: Reader, { reads, values }: Branch): Promise<number> =>
  Number((await read.first(reads.counted, values))?.rows ?? 0)

async function countUnion(read: Reader, first: Branch, second: Branch): Promise<number> {
  const [ofOne, ofOther] = await Promise.all([countOf(read, first), countOf(read, second)])
  if (ofOne === 0 || ofOther === 0 || Math.max(ofOne, ofOther) > queueTotalMax) return Math.max(ofOne, ofOther)
  const ids = await Promise.all([first, second].map(({ reads, values }) => read.all(reads.ids, values)))
  return new Set(ids.flat().map(({ id }) => id)).size
}
