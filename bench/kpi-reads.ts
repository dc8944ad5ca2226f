/**
 * The dashboards in process, by the edge and so past no check: over few transactions and over very many, in turn; and product reads while an
 * operator looks at them. Told where on standard input; writes what it measured to standard output.
 */
import { sql } from 'drizzle-orm'
import { engine } from '../db/columns.ts'
import { parseConfig } from '../src/config.ts'
import { system } from '../src/core/change.ts'
import { type Instance, openInstance } from '../src/instance.ts'
import { addDays, dayMs, dayOf } from '../src/lib/day.ts'
import { startSession } from '../src/modules/auth/service.ts'
import { createProduct } from '../src/modules/catalog/index.ts'
import { fillKpis, foldKpis } from '../src/modules/kpi/index.ts'
import { createMerchant, createSuperAdmin } from '../src/modules/merchant/service.ts'
import { contextOf } from '../src/modules/shop/index.ts'
import { benchSettings } from './seed.ts'

export type NetworkOf = { readonly dataDir: string; readonly databaseUrl?: string; readonly transactions: number }
export type KpisTold = { readonly networks: readonly NetworkOf[]; readonly rounds: number; readonly seconds: number }
export type KpisMeasured = {
  /** By dashboard, the fastest of each network in milliseconds: what else the machine does makes none faster. */
  readonly times: Record<string, number[]>
  /** Of the last network, product reads a second while nobody looks at dashboards and while somebody does, a round each. */
  readonly quiet: readonly number[]
  readonly looking: readonly number[]
}

const batch = 50_000
const shopsCount = 20
const productsOfShop = 10
const days = 365
/** A capture, what a gift card paid, and that both went back. */
const movementsOfOrder = 4
/** One order in ten was brought by a partner. */
const partnersEvery = 10
/** Between two looks of an operator. */
const lookEveryMs = 200
const password = 'bench-password'
const processors = ['stripe', 'tap', 'qpay', 'checkout', 'paypal', 'btcpay']

const dashboards = [
  ...['registered-users', 'verified-shops', 'confirmed-orders', 'created-products', 'gmv', 'refund-rate'].map(
    (name) => `dashboard/${name}`,
  ),
  ...['top-merchants', 'top-products'].map((name) => `affiliate/${name}`),
]

/** Makes orders and movements of money by the database itself, evenly over a year; then the program counts them. */
async function seed({ deps }: Instance, transactions: number): Promise<{ productId: string }> {
  const now = deps.clock.now()
  const shops: string[] = []
  let productId = ''
  for (let nth = 0; nth < shopsCount; nth++) {
    const { user, shop } = await createMerchant(
      deps,
      { email: `bench${nth}@example.com`, password },
      { name: `bench-${nth}`, currency: 'USD', country: 'US' },
      system,
    )
    shops.push(shop.id)
    for (let which = 0; which < productsOfShop; which++) {
      const input = { title: `Thing ${nth} ${which}`, status: 'ACTIVE' as const, publishedAt: now - dayMs }
      const made = await createProduct(deps, { shop: contextOf(shop), actor: { id: user.id } }, input)
      productId ||= made.id
    }
  }
  await deps.db.write(async (tx) => {
    await tx.rows(sql`create table bench_shops (nth integer primary key, id text not null)`)
    await tx.rows(sql`create table bench_products (nth integer primary key, id text not null)`)
    for (const [nth, id] of shops.entries()) await tx.rows(sql`insert into bench_shops values (${nth}, ${id}) returning 1 as done`)
    await tx.rows(sql`insert into bench_products
      select (select count(*) from products before where before.id < p.id), p.id from products p where true returning 1 as done`)
  })
  const numbers = (from: number, to: number) =>
    engine === 'sqlite'
      ? sql`with recursive numbers(n) as (select ${from} union all select n + 1 from numbers where n + 1 < ${to}) select n from numbers`
      : sql`select n from generate_series(${from}::bigint, ${to}::bigint - 1) as numbers(n)`
  const id = (prefix: string) =>
    engine === 'sqlite' ? sql.raw(`printf('${prefix}_%026d', n)`) : sql.raw(`'${prefix}_' || lpad(n::text, 26, '0')`)
  const orders = Math.ceil(transactions / movementsOfOrder)
  const at = sql.raw(`(${now - (days - 1) * dayMs} + n * ${Math.floor(((days - 1) * dayMs) / orders)})`)
  const partner = sql.raw(`case when n % ${partnersEvery} = 0 then 'aff_bench' end`)
  const product = sql.raw(`(select id from bench_products where nth = (n * 7) % ${shopsCount * productsOfShop})`)
  const shop = sql.raw(`(select id from bench_shops where nth = n % ${shopsCount})`)
  const processor = sql.raw(`case n % ${processors.length} ${processors.map((name, nth) => `when ${nth} then '${name}'`).join(' ')} end`)
  const amount = sql.raw('(1000 + (n * 97) % 90000)')
  for (let from = 0; from < orders; from += batch)
    await deps.db.write(async (tx) => {
      const some = sql`(${numbers(from, Math.min(from + batch, orders))}) as numbered`
      await tx.rows(sql`
        insert into orders (
          id, shop_id, number, cart_id, email, currency, subtotal, discount_total, shipping_total, tax_total, tax_included, gift_card_total, total,
          amount_due, captured_total, refunded_total, gift_card_refunded_total, mode, status, payment_status, fulfilment_status, affiliate_id,
          expires_at, holds, created_at, updated_at, confirmed_at)
        select ${id('order')}, ${shop}, n, ${id('cart')}, 'a@example.com', 'USD', ${amount}, 0, 0, 0, 0, 100, ${amount},
          ${amount} - 100, ${amount} - 100, 0, 0, 'TEST', 'COMPLETED', 'CAPTURED', 'FULFILLED', ${partner},
          ${at}, 'COMMITTED', ${at}, ${at}, ${at}
        from ${some} returning 1 as done`)
      await tx.rows(sql`
        insert into order_lines (
          order_id, position, id, product_id, variant_id, title, variant_title, quantity, unit_price, total, tax_rate_bps, tax_inclusive, tax_amount, tracked)
        select ${id('order')}, 0, ${id('line')}, ${product}, 'var_bench', 'Thing', '', 1, ${amount}, ${amount}, 0, ${sql.raw(engine === 'sqlite' ? '0' : 'false')}, 0, ${sql.raw(engine === 'sqlite' ? '0' : 'false')}
        from ${some} where n % ${sql.raw(String(partnersEvery))} = 0 returning 1 as done`)
      for (const [kind, by, cents] of [
        ['CAPTURE', processor, sql`${amount} - 100`],
        ['GIFT_CARD', sql`'gift_card'`, sql`100`],
        ['REFUND', processor, sql`(${amount} - 100) / 10`],
        ['GIFT_CARD_REFUND', sql`'gift_card'`, sql`10`],
      ] as const)
        await tx.rows(sql`
          insert into unified_transactions (
            id, key, kind, shop_id, order_id, processor, affiliate_id, currency, amount, usd_per_unit, usd_cents, at, rate_day, confirmed)
          select ${id(`txn_${kind}`)}, ${id(kind)}, ${sql.raw(`'${kind}'`)}, ${shop}, ${id('order')}, ${by}, ${partner}, 'USD', ${cents}, '1', ${cents}, ${at}, '2026-01-01',
            ${sql.raw(engine === 'sqlite' ? '1' : 'true')}
          from ${some} returning 1 as done`)
    })
  await deps.db.write(async (tx) => void (await tx.rows(sql`analyze`)))
  await fillKpis(deps)
  await foldKpis(deps)
  return { productId }
}

async function open({ dataDir, databaseUrl, transactions }: NetworkOf) {
  const settings = { ...benchSettings(dataDir), PORT: '0' }
  const config = parseConfig({ ...settings, ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}) })
  const instance = await openInstance({ config, as: 'server' })
  const { deps, edge } = instance
  const operator = await createSuperAdmin(deps, { email: 'root@example.com', password })
  const { productId } = await seed(instance, transactions)
  const { data } = await startSession(deps, { id: operator.id, role: 'SUPER_ADMIN' }, system)
  const headers = { host: 'localhost', authorization: `Bearer ${data.accessToken}` }
  const today = dayOf(deps.clock.now())
  const window = `?startDate=${addDays(today, 1 - days)}&endDate=${today}`
  const ask = async (path: string): Promise<number> => {
    const startedAt = performance.now()
    const answer = await edge.fetch(new Request(`http://localhost${path}`, { headers }), { requestIP: () => ({ address: '127.0.0.1' }) })
    const body = await answer.text()
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status} ${body}`)
    return performance.now() - startedAt
  }
  return {
    instance,
    /** How long a dashboard took over a year, in milliseconds. */
    dashboard: (name: string) => ask(`/admin/${name}${window}`),
    /** Product reads a second, by 16 who read one after the other; somebody may look at dashboards meanwhile. */
    async productReads(seconds: number, isLooking: boolean): Promise<number> {
      const end = performance.now() + seconds * 1_000
      let count = 0
      const reader = async () => {
        for (; performance.now() < end; count++) {
          await ask(`/product-v2/public/${productId}`)
          if (count % 64 === 0) await new Promise((resume) => setImmediate(resume))
        }
      }
      const operator = async () => {
        for (let nth = 0; isLooking && performance.now() < end; nth++) {
          await ask(`/admin/${dashboards[nth % dashboards.length]}${window}`)
          await Bun.sleep(lookEveryMs)
        }
      }
      await Promise.all([operator(), ...Array.from({ length: 16 }, reader)])
      return count / seconds
    },
  }
}

const { networks, rounds, seconds }: KpisTold = await Bun.stdin.json()
const opened = []
for (const network of networks) opened.push(await open(network))
const times: Record<string, number[][]> = {}
for (let round = 0; round < rounds; round++)
  for (const name of dashboards)
    for (const [nth, { dashboard }] of opened.entries()) {
      // The first is for the caches.
      await dashboard(name)
      times[name] ??= networks.map(() => [])
      times[name][nth]?.push(await dashboard(name), await dashboard(name))
    }
const [quiet, looking]: [number[], number[]] = [[], []]
const large = opened.at(-1)
for (let round = 0; round < rounds; round++) {
  quiet.push((await large?.productReads(seconds, false)) ?? 0)
  looking.push((await large?.productReads(seconds, true)) ?? 0)
}
const measured: KpisMeasured = {
  times: Object.fromEntries(Object.entries(times).map(([name, all]) => [name, all.map((of) => Math.min(...of))])),
  quiet,
  looking,
}
process.stdout.write(JSON.stringify(measured))
for (const { instance } of opened) await instance.close()
process.exit(0)
