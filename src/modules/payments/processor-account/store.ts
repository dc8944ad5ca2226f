import { and, asc, desc, eq, isNull, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { insertOf, prepare, rowsOf, rowsWhere, valuesOf } from '../../../../db/prepared.ts'
import { processorAccounts } from '../../../../db/schema/processor-accounts.ts'
import type { ProcessorName } from '../payment-method/domain.ts'
import type { AccountRow, Mode } from './domain.ts'

/** The key of a shop's account; at most one is live. */
export type Which = { readonly shopId: string; readonly processor: ProcessorName; readonly mode: Mode }

const isLive = isNull(processorAccounts.retiredAt)
const live = rowsWhere(processorAccounts, and(valuesOf(processorAccounts, ['shopId', 'processor', 'mode']), isLive))
const liveOfShop = rowsWhere(
  processorAccounts,
  and(valuesOf(processorAccounts, ['shopId', 'mode']), isLive),
  asc(processorAccounts.processor),
)
const newestOfAccount = rowsOf(processorAccounts, ['accountId'], desc(processorAccounts.version))
const newest = rowsOf(processorAccounts, ['shopId', 'processor', 'mode'], desc(processorAccounts.version))
const sameIdentity = rowsOf(processorAccounts, ['shopId', 'processor', 'mode', 'identity'], desc(processorAccounts.version))
const ofShop = prepare((queries) =>
  queries
    .select()
    .from(processorAccounts)
    .where(valuesOf(processorAccounts, ['shopId', 'processor']))
    .orderBy(sql`case when ${processorAccounts.retiredAt} is null then 0 else 1 end`, desc(processorAccounts.id))
    .limit(sql.placeholder('limit')),
)
const everyLive = rowsWhere(
  processorAccounts,
  isLive,
  asc(processorAccounts.shopId),
  asc(processorAccounts.processor),
  asc(processorAccounts.mode),
)

export const createProcessorAccountStore = ({ read }: Pick<Database, 'read'>) => ({
  findLive: async (which: Which, from: Pick<Reader, 'first'> = read): Promise<AccountRow | undefined> => from.first(live, which),
  /** The live account of each processor. */
  async liveOf(shopId: string, mode: Mode, from: Pick<Reader, 'all'> = read): Promise<AccountRow[]> {
    return from.all(liveOfShop, { shopId, mode })
  },
  /** The newest keys of an account, also of a retired one. */
  newestOf: async (accountId: string): Promise<AccountRow | undefined> => read.first(newestOfAccount, { accountId }),
  /** The version of the last row; 0 without one. */
  lastVersion: async (tx: Pick<Reader, 'first'>, which: Which): Promise<number> => (await tx.first(newest, which))?.version ?? 0,
  /** An account of the shop, live or retired, with the same identity. */
  async known(tx: Pick<Reader, 'first'>, which: Which, identity: string): Promise<AccountRow | undefined> {
    return tx.first(sameIdentity, { ...which, identity })
  },
  /** A shop's accounts of both modes: live first, then retired, newest first. */
  async ofShop(shopId: string, processor: ProcessorName, limit: number): Promise<AccountRow[]> {
    return read.all(ofShop, { shopId, processor, limit })
  },
  /** Of all shops. */
  everyLive: async (): Promise<AccountRow[]> => read.all(everyLive, {}),
  insert: insertOf(processorAccounts),
  async retire(tx: Writer, id: string, retiredAt: number): Promise<void> {
    await tx
      .update(processorAccounts)
      .set({ retiredAt })
      .where(and(eq(processorAccounts.id, id), isNull(processorAccounts.retiredAt)))
  },
})
