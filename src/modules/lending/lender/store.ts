import { asc, desc, eq, inArray } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { insertOf, lockedRowsOf, rowsOf } from '../../../../db/prepared.ts'
import { lenderStatusHistory, lenders } from '../../../../db/schema/lending.ts'
import { movesOf } from '../../../core/state-machine.ts'
import type { Slice } from '../../../lib/page.ts'
import { type Lender, type LenderStatus, type LenderStatusEntry, lenderStatuses, lenderTransitions } from './domain.ts'

const byId = rowsOf(lenders, ['id'])
const lockedById = lockedRowsOf(lenders, ['id'])
const historyOf = rowsOf(lenderStatusHistory, ['lenderId'], asc(lenderStatusHistory.position))
const insert = insertOf(lenders)
const insertEntry = insertOf(lenderStatusHistory)
const moves = movesOf(lenders, lenderTransitions)
/** How each status is entered: from another one it does not compile. */
const entries = {
  ACTIVE: (tx: Writer, lender: Lender, fields: Partial<Lender>) => moves.move(tx, lender, ['PENDING_KYB', 'SUSPENDED'], 'ACTIVE', fields),
  SUSPENDED: (tx: Writer, lender: Lender, fields: Partial<Lender>) => moves.move(tx, lender, ['ACTIVE'], 'SUSPENDED', fields),
  ARCHIVED: (tx: Writer, lender: Lender, fields: Partial<Lender>) =>
    moves.move(tx, lender, ['PENDING_KYB', 'SUSPENDED'], 'ARCHIVED', fields),
}

export const createLenderStore = ({ read }: Pick<Database, 'read'>) => ({
  async find(id: string): Promise<Lender | undefined> {
    return read.first(byId, { id })
  },
  /** Locked, for a write that decides by it. */
  async locked(tx: Writer, id: string): Promise<Lender | undefined> {
    return tx.first(lockedById, { id })
  },
  /** Newest first. */
  list: (status: LenderStatus | undefined, slice: Slice) =>
    selectSlice(read, lenders, { where: status && eq(lenders.status, status), order: [desc(lenders.id)], ...slice }),
  async insert(tx: Writer, lender: Lender): Promise<void> {
    await insert(tx, lender)
  },
  /** Moves a lender that is locked; undefined where its table of transitions does not let it. */
  move: (tx: Writer, lender: Lender, to: LenderStatus, fields: Partial<Lender>): Promise<Lender | undefined> =>
    to === 'PENDING_KYB' ? Promise.resolve(undefined) : entries[to](tx, lender, fields),
  /** Changes what is no status. */
  change: (tx: Writer, lender: Lender, fields: Partial<Lender>) => moves.change(tx, lender, lenderStatuses, fields),
  async insertEntry(tx: Writer, entry: LenderStatusEntry): Promise<void> {
    await insertEntry(tx, entry)
  },
  /** What a lender was, in its order. */
  async historyOf(lenderId: string, from: Pick<Reader, 'all'> = read): Promise<LenderStatusEntry[]> {
    return from.all(historyOf, { lenderId })
  },
  /** The same of each of these. */
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
