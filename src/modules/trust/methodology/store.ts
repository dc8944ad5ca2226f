import { and, desc, eq, type SQL } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { insertOf, lockedRowsOf, prepare, rowsOf, valuesOf } from '../../../../db/prepared.ts'
import { methodologies } from '../../../../db/schema/trust.ts'
import { createStateMachine } from '../../../core/state-machine.ts'
import type { PageSlice } from '../../../lib/page.ts'
import { type Methodology, type MethodologyStatus, methodologyTransitions } from './domain.ts'

const byId = rowsOf(methodologies, ['id'])
const lockedById = lockedRowsOf(methodologies, ['id'])
const byHash = rowsOf(methodologies, ['lenderId', 'contentHash'])
const active = rowsOf(methodologies, ['lenderId', 'status'])
const anyOfLender = prepare((queries) =>
  queries
    .select({ id: methodologies.id })
    .from(methodologies)
    .where(valuesOf(methodologies, ['lenderId']))
    .limit(1),
)
const transitions = createStateMachine(methodologies, methodologyTransitions)

export type MethodologyFilter = { lenderId?: string | undefined; status?: MethodologyStatus | undefined }

export const createMethodologyStore = ({ read }: Pick<Database, 'read'>) => ({
  find: async (id: string, from: Pick<Reader, 'first'> = read): Promise<Methodology | undefined> => from.first(byId, { id }),
  /** Locks the row. */
  locked: async (tx: Writer, id: string): Promise<Methodology | undefined> => tx.first(lockedById, { id }),
  byHash: async (lenderId: string, contentHash: string): Promise<Methodology | undefined> => read.first(byHash, { lenderId, contentHash }),
  async active(lenderId: string, from: Pick<Reader, 'first'> = read): Promise<Methodology | undefined> {
    return from.first(active, { lenderId, status: 'ACTIVE' })
  },
  /** The caller has locked the lender. */
  hasAny: async (tx: Writer, lenderId: string): Promise<boolean> => (await tx.first(anyOfLender, { lenderId })) !== undefined,
  /** Newest first. */
  list({ lenderId, status }: MethodologyFilter, slice: PageSlice) {
    const conditions: (SQL | undefined)[] = [
      lenderId ? eq(methodologies.lenderId, lenderId) : undefined,
      status ? eq(methodologies.status, status) : undefined,
    ]
    return selectSlice(read, methodologies, { where: and(...conditions), order: [desc(methodologies.id)], ...slice })
  },
  insert: insertOf(methodologies),
  /** The row must be active and locked. */
  supersede: (tx: Writer, methodology: Methodology, updatedAt: number) =>
    transitions.move(tx, methodology, ['ACTIVE'], 'SUPERSEDED', { updatedAt, version: methodology.version + 1 }),
  /** Returns undefined if it is revoked already. */
  revoke: (tx: Writer, methodology: Methodology, updatedAt: number) =>
    transitions.move(tx, methodology, ['ACTIVE', 'SUPERSEDED'], 'REVOKED', { updatedAt, version: methodology.version + 1 }),
})
