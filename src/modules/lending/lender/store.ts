import { asc, desc, eq, inArray } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { insertOf, lockedRowsOf, rowsOf } from '../../../../db/prepared.ts'
import { lenderStatusHistory, lenders } from '../../../../db/schema/lending.ts'
import { createStateMachine } from '../../../core/state-machine.ts'
import type { PageSlice } from '../../../lib/page.ts'
import { type Lender, type LenderStatus, type LenderStatusEntry, lenderStatuses, lenderTransitions } from './domain.ts'

const byId = rowsOf(lenders, ['id'])
const lockedById = lockedRowsOf(lenders, ['id'])
const historyOf = rowsOf(lenderStatusHistory, ['lenderId'], asc(lenderStatusHistory.position))
const transitions = createStateMachine(lenders, lenderTransitions)
/** One entry per target status. A transition that the table does not allow does not compile. */
const moveTo = {
  ACTIVE: (tx: Writer, lender: Lender, fields: Partial<Lender>) =>
    transitions.move(tx, lender, ['PENDING_KYB', 'SUSPENDED'], 'ACTIVE', fields),
  SUSPENDED: (tx: Writer, lender: Lender, fields: Partial<Lender>) => transitions.move(tx, lender, ['ACTIVE'], 'SUSPENDED', fields),
  ARCHIVED: (tx: Writer, lender: Lender, fields: Partial<Lender>) =>
    transitions.move(tx, lender, ['PENDING_KYB', 'SUSPENDED'], 'ARCHIVED', fields),
}

export const createLenderStore = ({ read }: Pick<Database, 'read'>) => ({
  find: async (id: string): Promise<Lender | undefined> => read.first(byId, { id }),
  locked: async (tx: Writer, id: string): Promise<Lender | undefined> => tx.first(lockedById, { id }),
  /** Newest first. */
  list: (status: LenderStatus | undefined, slice: PageSlice) =>
    selectSlice(read, lenders, { where: status && eq(lenders.status, status), order: [desc(lenders.id)], ...slice }),
  insert: insertOf(lenders),
  /** Moves a locked lender. Returns undefined if the transition is not allowed. */
  move: (tx: Writer, lender: Lender, to: LenderStatus, fields: Partial<Lender>): Promise<Lender | undefined> =>
    to === 'PENDING_KYB' ? Promise.resolve(undefined) : moveTo[to](tx, lender, fields),
  /** Changes fields other than the status. */
  change: (tx: Writer, lender: Lender, fields: Partial<Lender>) => transitions.change(tx, lender, lenderStatuses, fields),
  insertEntry: insertOf(lenderStatusHistory),
  /** Oldest first. */
  historyOf: async (lenderId: string, from: Pick<Reader, 'all'> = read): Promise<LenderStatusEntry[]> => from.all(historyOf, { lenderId }),
  async historiesOf(lenderIds: readonly string[]): Promise<Map<string, LenderStatusEntry[]>> {
    if (lenderIds.length === 0) return new Map()
    const rows = await read
      .select()
      .from(lenderStatusHistory)
      .where(inArray(lenderStatusHistory.lenderId, [...lenderIds]))
      .orderBy(asc(lenderStatusHistory.lenderId), asc(lenderStatusHistory.position))
    return Map.groupBy(rows, ({ lenderId }) => lenderId)
  },
})
