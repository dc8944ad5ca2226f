/** Measures the cost of an upload of 25 MB: memory, and the rate of concurrent checkouts. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { kybRecords } from '../db/schema/kyb.ts'
import { lendingApplications } from '../db/schema/lending.ts'
import { parseConfig } from '../src/config.ts'
import { openInstance } from '../src/instance.ts'
import { percentile } from './load.ts'
import { figure, median, print, quick, reportSingle, residentMb, rounds, rows, spreadOf, start, work } from './runs.ts'
import { benchSettings, type Seeded, seed, unlimitedProduct } from './seed.ts'

const mb = 1024 * 1024
const callers = 8
const seconds = quick ? 2 : 5
const key = 'bank_statements_12m'
const json = { 'content-type': 'application/json' }

/** Creates an approved merchant with a draft; returns its id. */
async function createDraft({ dataDir, email }: Seeded): Promise<string> {
  const { deps, close } = await openInstance({ config: parseConfig(benchSettings(dataDir)), as: 'command' })
  const now = deps.clock.now()
  const [id, merchant] = [deps.newId('lendingApplication'), await deps.userStore.findByEmail(email)]
  const merchantId = merchant?.id ?? ''
  const common = { merchantId, cohort: 'US_COMPANY', createdAt: now, updatedAt: now, version: 1 } as const
  await deps.db.write(async (tx) => {
    const business = { legalName: 'Bench', registrationNumber: '1', country: 'US', owners: [], reason: null, decidedAt: now }
    await tx.insert(kybRecords).values({ id: deps.newId('kyb'), status: 'APPROVED', ...business, ...common })
    await tx
      .insert(lendingApplications)
      .values({ id, tier: 'TIER_1_REFERRAL', status: 'DRAFT', queuedAt: 0, createdBy: merchantId, ...common })
  })
  await close()
  return id
}

async function post(url: string, path: string, headers: Record<string, string>, body: unknown) {
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path.replace(/_\w+/g, '_…')} answered ${answer.status} ${await answer.text()}`)
  return answer.json() as Promise<Record<string, never>>
}

/** Runs buyers who check out repeatedly. Returns the durations in milliseconds. */
async function runCheckouts(url: string, secretKey: string, publishableKey: string, variantId: string): Promise<number[]> {
  const took: number[] = []
  const endsAt = performance.now() + seconds * 1_000
  const buyRepeatedly = async () => {
    while (performance.now() < endsAt) {
      const cart = (await post(url, '/cart', { 'x-service-api-key': secretKey }, { email: 'a@example.com' })) as unknown as { id: string }
      await post(url, `/cart/${cart.id}/items`, { 'x-service-api-key': secretKey }, { variantId, quantity: 1 })
      const startedAt = performance.now()
      const keys = { 'x-service-api-key': publishableKey, 'idempotency-key': crypto.randomUUID() }
      await post(url, `/cart/${cart.id}/checkout`, keys, { method: 'card' })
      took.push(performance.now() - startedAt)
    }
  }
  await Promise.all(Array.from({ length: callers }, buyRepeatedly))
  return took.sort((a, b) => a - b)
}

export async function measureLendingDocuments(): Promise<void> {
  print('a document of 25 MB')
  const shop = await seed(join(work, 'documents'), 10)
  const id = await createDraft(shop)
  const file = join(work, 'statement.pdf')
  writeFileSync(
    file,
    Buffer.concat([Buffer.from('%PDF-1.7\n'), crypto.getRandomValues(new Uint8Array(65_536)), Buffer.alloc(25 * mb - 65_545, 7)]),
  )
  const bucket = await start('s3.ts')
  for (const [where, settings] of [
    ['a bucket', JSON.parse(bucket.url)],
    ['the data directory', {}],
  ] as const) {
    const { souk, buy, target, token } = await startWithUploader(shop, id, settings)
    await buy()
    await Bun.sleep(1_000)
    const { most, took } = await firstUpload(souk.pid, target, token, file)
    reportSingle(`memory of the first upload of 25 MB, to ${where}`, `+${figure(most, 1)} MB`, '≤ 32 MB')
    reportSingle(`an upload of 25 MB alone, to ${where}`, `${figure(took)} ms`, '')
    if (where === 'the data directory') await measureCheckouts(buy, target, token, file)
    await souk.stop()
  }
  await bucket.stop()
}

/** Starts souk on the seeded directory with these settings, a product and an uploader. */
async function startWithUploader(shop: Seeded, id: string, settings: Record<string, string>) {
  const souk = await start('souk.ts', shop.dataDir, 'FULL', JSON.stringify({ LENDING_PLATFORM_ENABLED: 'true', ...settings }))
  const { data } = (await post(souk.url, '/merchant/login', {}, { email: shop.email, password: shop.password })) as unknown as {
    data: { accessToken: string }
  }
  const { variants } = (await post(souk.url, '/product-v2', { 'x-service-api-key': shop.secretKey }, unlimitedProduct)) as unknown as {
    variants: { id: string }[]
  }
  const { publishableKey } = (await (await fetch(`${souk.url}/shops/v2/public/name/${shop.shopName}`)).json()) as { publishableKey: string }
  return {
    souk,
    token: data.accessToken,
    target: `${souk.url}/lending-application/${id}/documents/${key}`,
    buy: () => runCheckouts(souk.url, shop.secretKey, publishableKey, variants[0]?.id ?? ''),
  }
}

/** Returns the memory that a file costs, in MB, and its duration in milliseconds. */
async function firstUpload(pid: number, target: string, token: string, file: string): Promise<{ most: number; took: number }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/pdf' }
  const before = residentMb(pid)
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, residentMb(pid))
  }, 2)
  const startedAt = performance.now()
  const answer = await fetch(target, { method: 'PUT', headers, body: Bun.file(file) })
  const took = performance.now() - startedAt
  clearInterval(watch)
  if (answer.status !== 200) throw new Error(`the upload answered ${answer.status} ${await answer.text()}`)
  return { most: most - before, took }
}

async function measureCheckouts(buy: () => Promise<number[]>, target: string, token: string, file: string): Promise<void> {
  const quiet: number[][] = []
  const busy: number[][] = []
  for (let round = 0; round < rounds; round++) {
    quiet.push(await buy())
    const sender = await start('uploading.ts', target, token, file)
    busy.push(await buy())
    await sender.stop()
  }
  const p99 = (all: readonly number[][]) => median(all.map((buyRepeatedly) => percentile(buyRepeatedly, 0.99)))
  const ratios = busy.map((buyRepeatedly, nth) => percentile(buyRepeatedly, 0.99) / percentile(quiet[nth] ?? [], 0.99))
  rows.push({
    what: 'checkout p99, 25 MB after 25 MB coming',
    souk: `${figure(p99(busy), 1)} ms`,
    floor: `without ${figure(p99(quiet), 1)} ms`,
    ratio: median(ratios).toFixed(2),
    spread: spreadOf(ratios),
    target: '≤ 1.50',
  })
}
