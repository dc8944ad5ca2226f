import { asc, eq, inArray, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { insertAllOf, prepare, rowsOf, valuesOf } from '../../../../db/prepared.ts'
import {
  partnershipLists,
  partnershipShops,
  partnerships,
  paymentMethods,
  processorIsolations,
} from '../../../../db/schema/payment-methods.ts'
import { shops } from '../../../../db/schema/shop.ts'
import type { Partnership, ProcessorName } from './domain.ts'

type MethodsRow = typeof paymentMethods.$inferSelect
type IsolationRow = typeof processorIsolations.$inferSelect

/** In one statement. */
const keysMax = 500

const ofShop = rowsOf(paymentMethods, ['shopId'])
const partnershipOf = prepare((queries) =>
  queries
    .select({ name: partnerships.name, defaultCardProcessor: partnerships.defaultCardProcessor })
    .from(partnershipShops)
    .innerJoin(partnerships, eq(partnerships.name, partnershipShops.partnership))
    .where(valuesOf(partnershipShops, ['shopId']))
    .limit(1),
)
const list = rowsOf(partnershipLists, ['id'])
const allPartnerships = rowsOf(partnerships, [], asc(partnerships.position))
const allMembers = rowsOf(partnershipShops, [], asc(partnershipShops.partnership), asc(partnershipShops.position))
const insertPartnerships = insertAllOf(partnerships)
const insertMembers = insertAllOf(partnershipShops)
const isolations = rowsOf(processorIsolations, [], asc(processorIsolations.processor))

export const createPaymentMethodStore = ({ read }: Pick<Database, 'read'>) => ({
  methodsOf: async (shopId: string, from: Pick<Reader, 'first'> = read): Promise<MethodsRow | undefined> => from.first(ofShop, { shopId }),
  /** Returns false if the stored version differs. */
  async putMethods(tx: Writer, row: MethodsRow): Promise<boolean> {
    const { methods, updatedAt, version } = row
    const put = await tx
      .insert(paymentMethods)
      .values(row)
      .onConflictDoUpdate({
        target: paymentMethods.shopId,
        set: { methods, updatedAt, version },
        setWhere: eq(paymentMethods.version, version - 1),
      })
      .returning({ version: paymentMethods.version })
    return put.length === 1
  },

  async partnershipOf(shopId: string, from: Pick<Reader, 'first'> = read): Promise<Omit<Partnership, 'shopIds'> | undefined> {
    return from.first(partnershipOf, { shopId })
  },
  /** All partnerships with their shops, in the order in which they were put. */
  async partnerships(from: Pick<Reader, 'first' | 'all'> = read): Promise<{ data: Partnership[]; version: number }> {
    const [listRow, rows, members] = await Promise.all([
      from.first(list, { id: 'all' }),
      from.all(allPartnerships, {}),
      from.all(allMembers, {}),
    ])
    const byName = Map.groupBy(members, ({ partnership }) => partnership)
    return {
      data: rows.map(({ name, defaultCardProcessor }) => ({
        name,
        defaultCardProcessor,
        shopIds: (byName.get(name) ?? []).map(({ shopId }) => shopId),
      })),
      version: listRow?.version ?? 1,
    }
  },
  /** Those of these ids that are shops. */
  async knownShops(tx: Writer, ids: readonly string[]): Promise<Set<string>> {
    const existingIds = new Set<string>()
    for (let from = 0; from < ids.length; from += keysMax) {
      const some = ids.slice(from, from + keysMax)
      for (const { id } of await tx.select({ id: shops.id }).from(shops).where(inArray(shops.id, some))) existingIds.add(id)
    }
    return existingIds
  },
  async putPartnerships(tx: Writer, data: readonly Partnership[], version: number): Promise<void> {
    await tx.delete(partnershipShops)
    await tx.delete(partnerships)
    await insertPartnerships(
      tx,
      data.map(({ name, defaultCardProcessor }, position) => ({ name, defaultCardProcessor, position })),
    )
    await insertMembers(
      tx,
      data.flatMap(({ name, shopIds }) => shopIds.map((shopId, position) => ({ shopId, partnership: name, position }))),
    )
    await tx
      .insert(partnershipLists)
      .values({ id: 'all', version })
      .onConflictDoUpdate({ target: partnershipLists.id, set: { version: sql`excluded.version` } })
  },

  isolations: async (from: Pick<Reader, 'all'> = read): Promise<IsolationRow[]> => from.all(isolations, {}),
  /** Whether it was not isolated before. */
  async isolate(tx: Writer, row: IsolationRow): Promise<boolean> {
    const made = await tx
      .insert(processorIsolations)
      .values(row)
      .onConflictDoNothing()
      .returning({ processor: processorIsolations.processor })
    return made.length === 1
  },
  /** Whether it was isolated before. */
  async restore(tx: Writer, processor: ProcessorName): Promise<boolean> {
    const removed = await tx
      .delete(processorIsolations)
      .where(eq(processorIsolations.processor, processor))
      .returning({ processor: processorIsolations.processor })
    return removed.length === 1
  },
})
