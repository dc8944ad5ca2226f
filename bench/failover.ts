/**
 * Measures the outage of purchases when the first of two PostgreSQL servers is killed and the second promoted, and
 * which orders are lost.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { serve } from '../test/cli/souk.ts'
import { postgresPair, whyNoPostgres } from '../test/support/postgres-pair.ts'
import type { ShopToBuyIn } from './callers.ts'
import { figure, median, print, quick, reportSingle, runScript, work } from './runs.ts'
import { benchSettings } from './seed.ts'

const callers = 16
const rounds = quick ? 2 : 3
const ordersBefore = 100
const ordersAfter = 100

type Failover = { promotedMs: number; boughtMs: number; busy: number; others: number; placed: number; lost: number }

export async function measureFailover(): Promise<void> {
  if (whyNoPostgres) {
    print(`failover is not measured: ${whyNoPostgres}`)
    return
  }
  print('failover')
  const runs: Failover[] = []
  for (let round = 0; round < rounds; round++) runs.push(await failOver(round))
  const sum = (of: (run: Failover) => number) => runs.reduce((total, run) => total + of(run), 0)
  const seconds = (ms: number) => `${figure(ms / 1_000, 2)} s`
  const outages = runs.map(({ boughtMs }) => boughtMs)
  reportSingle(
    `primary of two killed, ${callers} callers: to the next order`,
    `${seconds(median(outages))} (${seconds(Math.min(...outages))}–${seconds(Math.max(...outages))}), ${seconds(median(runs.map(({ promotedMs }) => promotedMs)))} of them the promotion`,
    '≤ 5 s',
  )
  reportSingle(
    'answers meanwhile, and orders',
    `${sum(({ busy }) => busy)} × 503, ${sum(({ others }) => others)} others, ${sum(({ lost }) => lost)} lost of ${sum(({ placed }) => placed)}`,
    '0 others, 0 lost',
  )
}

async function failOver(round: number): Promise<Failover> {
  await using pair = await postgresPair()
  const dataDir = join(work, `failover-${round}`)
  mkdirSync(dataDir)
  const settings = { ...benchSettings(dataDir), DATABASE_URL: pair.url }
  const shop = await seedShop(dataDir, settings.DATABASE_URL)
  await using server = await serve(dataDir, settings)
  const headers = { 'content-type': 'application/json', 'x-service-api-key': shop.publishableKey }
  const post = async (path: string, body: unknown, key?: string) => {
    const more = key === undefined ? {} : { 'idempotency-key': key }
    const response = await fetch(`${server.url}${path}`, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as { id: string; order: { id: string } } }
  }
  const placed: { id: string; at: number }[] = []
  let [busy, others, isOver] = [0, 0, false]
  const buying = Array.from({ length: callers }, async (_, nth) => {
    while (!isOver) {
      const cart = await post('/cart', { email: `caller${nth}@example.com` })
      if (cart.status !== 201) continue
      const item = await post(`/cart/${cart.body.id}/items`, { variantId: shop.variantIds[0], quantity: 1 })
      if (item.status >= 300) continue
      const key = crypto.randomUUID()
      for (let isAnswered = false; !isAnswered && !isOver; ) {
        const { status, body } = await post(`/cart/${cart.body.id}/checkout`, { method: 'card' }, key)
        isAnswered = status !== 503
        if (status === 201) placed.push({ id: body.order.id, at: performance.now() })
        else if (status === 503) busy++
        else others++
      }
    }
  })
  while (placed.length < ordersBefore) await Bun.sleep(1)
  const killedAt = performance.now()
  pair.kill()
  await pair.promote()
  const promotedAt = performance.now()
  const after = () => placed.filter(({ at }) => at > promotedAt)
  while (after().length < ordersAfter) await Bun.sleep(10)
  isOver = true
  await Promise.all(buying)
  return {
    promotedMs: promotedAt - killedAt,
    boughtMs: endOfOutage(killedAt, placed) - killedAt,
    busy,
    others,
    placed: placed.length,
    lost: await countLost(pair.promoted, placed),
  }
}

/** Returns when orders succeeded again. Responses right after the kill were already in flight. */
function endOfOutage(killedAt: number, placed: readonly { at: number }[]): number {
  const times = [killedAt, ...placed.map(({ at }) => at).filter((at) => at > killedAt)].sort((a, b) => a - b)
  const gapBefore = (nth: number) => (times[nth] ?? 0) - (times[nth - 1] ?? 0)
  let longest = 1
  for (let nth = 2; nth < times.length; nth++) if (gapBefore(nth) > gapBefore(longest)) longest = nth
  return times[longest] ?? Number.NaN
}

async function seedShop(dataDir: string, databaseUrl: string): Promise<ShopToBuyIn> {
  const [shop] = await runScript<ShopToBuyIn[]>(['seed-postgres.ts', dataDir, '1'], {}, databaseUrl)
  if (!shop) throw new Error('seed-postgres.ts made no shop')
  return shop
}

/** Returns how many confirmed orders are missing from the database. */
async function countLost(url: string, placed: readonly { id: string }[]): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ id: string }>('select id from orders')
  await client.end()
  const storedIds = new Set(rows.map(({ id }) => id))
  return placed.filter(({ id }) => !storedIds.has(id)).length
}
