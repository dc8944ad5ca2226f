import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../../db/engine.ts'

type UsedFeatures = {
  readonly lenders: boolean
  readonly providers: boolean
  readonly severalShops: boolean
}

const exists = (rows: SQL): SQL => sql`case when exists (${rows}) then 1 else 0 end`

/** Finds out which parts of the instance have records. Each query reads one row at most. */
export const featuresStore = {
  async readUsedFeatures({ read }: Pick<Database, 'read'>): Promise<UsedFeatures> {
    const [row] = await read.rows<Record<'lenders' | 'providers' | 'shops', number | string>>(sql`
      select ${exists(sql`select 1 from lenders`)} as lenders,
             ${exists(sql`select 1 from service_providers`)} as providers,
             ${exists(sql`select 1 from shops limit 1 offset 1`)} as shops`)
    const isOne = (value: number | string | undefined) => Number(value ?? 0) === 1
    return { lenders: isOne(row?.lenders), providers: isOne(row?.providers), severalShops: isOne(row?.shops) }
  },
  /** Returns those of these shops that have an affiliate. */
  async withAffiliates({ read }: Pick<Database, 'read'>, shopIds: readonly string[]): Promise<string[]> {
    if (shopIds.length === 0) return []
    const ids = sql.join(
      shopIds.map((id) => sql`${id}`),
      sql`, `,
    )
    const rows = await read.rows<{ id: string }>(
      sql`select id from shops where id in (${ids}) and exists (select 1 from affiliates where affiliates.shop_id = shops.id)`,
    )
    return rows.map(({ id }) => id)
  },
}
