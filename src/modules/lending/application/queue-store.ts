import { and, asc, count, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Database, Reader } from '../../../../db/engine.ts'
import { prepare } from '../../../../db/prepared.ts'
import { lendingApplications } from '../../../../db/schema/lending.ts'
import type { Slice } from '../../../lib/page.ts'
import type { KybCohort } from '../../shop/kyb/domain.ts'
import { isTier1Partner, type LendingStatus, type LendingTier, queueTotalMax, tierOf } from './domain.ts'
import type { QueuedApplication } from './view.ts'

/** What the queue is narrowed by; a partner of either tier. */
export type QueueFilter = {
  readonly status: LendingStatus
  readonly tier?: LendingTier | undefined
  readonly cohort?: KybCohort | undefined
  readonly partner?: string | undefined
}

const { documentationCompleted: _, ...columns } = getTableColumns(lendingApplications)
type QueuedRow = QueuedApplication & { queuedAt: number }

/** Reads of those that have the values of these columns: by the index that has just these, in its order. */
function readsBy(names: readonly (keyof QueuedRow)[]) {
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
          // In the order of the index: without it Postgres reads the table from its beginning, in the hope of soon having so many.
          .orderBy(...order)
          .limit(queueTotalMax + 1)
          .as('some'),
      ),
    ),
  }
}
type Reads = ReturnType<typeof readsBy>

const built = new Map<string, Reads>()
const readsOf = (names: readonly (keyof QueuedRow)[]): Reads => built.getOrInsertComputed(names.join(), () => readsBy(names))

/** Where a partner is looked for: only those of Tier 1 have a column of their own, and anybody may write their name into the other. */
const partnerColumns = (partner: string | undefined) =>
  partner === undefined
    ? [undefined]
    : isTier1Partner(partner)
      ? (['selectedTier1Partner', 'selectedTier2Partner'] as const)
      : (['selectedTier2Partner'] as const)

export const createQueueStore = ({ read }: Pick<Database, 'read'>) => ({
  /** A page of what a filter lets through, submitted first at its head; and how many there are, up to one more than are counted. */
  async list(
    { status, tier, cohort, partner }: QueueFilter,
    { limit, offset }: Slice,
  ): Promise<{ rows: QueuedApplication[]; total: number }> {
    // A cohort has one tier.
    if (tier && cohort && tierOf(cohort) !== tier) return { rows: [], total: 0 }
    const kind = cohort ? { cohort } : tier ? { tier } : {}
    const branches = partnerColumns(partner).map((column) => {
      const values = { status, ...kind, ...(column && { [column]: partner }) }
      return { reads: readsOf(Object.keys(values) as (keyof QueuedRow)[]), values }
    })
    const [first, second] = branches
    if (!first) return { rows: [], total: 0 }
    if (!second) {
      const total = await countOf(read, first)
      if (offset >= Math.min(total, queueTotalMax)) return { rows: [], total }
      return { rows: await read.all(first.reads.rows, { ...first.values, limit, offset }), total }
    }
    // Of two indexes the heads of both, merged; an application may be in either.
    const total = await countOfBoth(read, first, second)
    if (offset >= Math.min(total, queueTotalMax)) return { rows: [], total }
    const heads = await Promise.all(
      [first, second].map(({ reads, values }) => read.all(reads.rows, { ...values, limit: offset + limit, offset: 0 })),
    )
    const merged = new Map(heads.flat().map((row) => [row.id, row]))
    return { rows: [...merged.values()].sort(earlier).slice(offset, offset + limit), total }
  },
})

type Branch = { readonly reads: Reads; readonly values: Readonly<Record<string, unknown>> }

const earlier = (a: QueuedRow, b: QueuedRow): number => a.queuedAt - b.queuedAt || (a.id < b.id ? -1 : 1)

const countOf = async (read: Reader, { reads, values }: Branch): Promise<number> =>
  Number((await read.first(reads.counted, values))?.rows ?? 0)

async function countOfBoth(read: Reader, one: Branch, other: Branch): Promise<number> {
  const [ofOne, ofOther] = await Promise.all([countOf(read, one), countOf(read, other)])
  if (ofOne === 0 || ofOther === 0 || Math.max(ofOne, ofOther) > queueTotalMax) return Math.max(ofOne, ofOther)
  const ids = await Promise.all([one, other].map(({ reads, values }) => read.all(reads.ids, values)))
  return new Set(ids.flat().map(({ id }) => id)).size
}
