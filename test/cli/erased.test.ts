/** Tests that an erased customer stays erased when an older database is restored. */
import { expect, test } from 'bun:test'
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { finishPendingErasures } from '../../src/modules/customers/erasure/index.ts'
import { backUp } from '../../src/modules/operations/backup/index.ts'
import { startS3 } from '../clients/documents/s3-server.ts'
import { type TestApp, testApp } from '../support/app.ts'
import { temporaryDir } from '../support/database.ts'
import { plantedAddress, plantedPerson, tracesOf } from '../support/personal-data.ts'
import { ok, sellingIn } from '../support/selling.ts'
import { describeProcesses, serve, souk } from './souk.ts'

const passphrase = 'twelve words that nobody guesses'
const day = 24 * 60 * 60_000

/** Creates a shop with a customer who placed an order, and another customer, who is not erased. */
async function createShop(app: TestApp) {
  const shop = await sellingIn(app, { onHand: 20 })
  const { id } = ok(await shop.post('/customer', { email: plantedPerson.email, name: plantedPerson.name })).body
  const { id: other } = ok(await shop.post('/customer', { email: 'stays@example.com', name: 'Stays Here' })).body
  ok(await shop.post(`/customer/${id}/addresses`, plantedAddress))
  const order = await shop.placeOrder({ email: plantedPerson.email, shippingAddress: plantedAddress })
  return { shop, id: String(id), other: String(other), order }
}
const fulfilOrder = async ({ shop, order }: Awaited<ReturnType<typeof createShop>>) =>
  ok(await shop.post(`/v2/orders/${order.id}/fulfil`, {}))

/** Reads a customer's name from a running server. */
const nameOf = async (url: string, key: string, id: string) => {
  const answer = await fetch(`${url}/customer/${id}`, { headers: { 'x-service-api-key': key } })
  return ((await answer.json()) as { name?: string }).name
}

describeProcesses('erasures after a restore', () => {
  test('after a restore from the bucket, erased customers are erased again before requests are served', async () => {
    await using server = startS3()
    const bucket = Object.fromEntries(Object.entries(server.settings).map(([name, value]) => [name.replace('DOCUMENTS', 'BACKUP'), value]))
    const settings = { ...bucket, BACKUP_PASSPHRASE: passphrase } as Record<string, string>
    const prepared = await (async () => {
      await using app = await testApp(settings, { startAt: Date.now() })
      const all = await createShop(app)
      await backUp(app.deps)
      await fulfilOrder(all)
      ok(await all.shop.post(`/customer/${all.id}/erase`, {}))
      await finishPendingErasures(app.deps)
      return all
    })()
    const newDir = join(temporaryDir(), 'new')
    const restored = await souk(['restore', 'latest', '--data-dir', newDir], temporaryDir(), { settings })
    expect(restored).toMatchObject({ status: 0, stderr: '' })
    expect(restored.stdout).toContain(
      '1 customer was erased after this backup: the next start erases them again before it accepts requests.',
    )
    {
      await using shop = await serve(newDir, { ...settings })
      expect([
        await nameOf(shop.url, prepared.shop.secretKey, prepared.id),
        await nameOf(shop.url, prepared.shop.secretKey, prepared.other),
      ]).toEqual(['', 'Stays Here'])
    }
    const checked = await souk(['check', '--data-dir', newDir], temporaryDir(), { settings })
    expect(checked).toMatchObject({ status: 0 })
  })

  test('erased customers are erased again after an older file was put in place; a lost list is rewritten', async () => {
    const dataDir = temporaryDir()
    const [file, older] = [join(dataDir, 'souk.db'), join(dataDir, 'older.db')]
    const database = { url: `file:${file}`, dataDir, drop: async () => {} }
    const list = join(dataDir, 'erased.jsonl')
    let now = Date.now()
    const openApp = () => testApp({}, { database, startAt: now })
    const prepared = await (async () => {
      await using app = await openApp()
      return await createShop(app)
    })()
    copyFileSync(file, older)
    {
      await using app = await openApp()
      const reopened = {
        ...prepared,
        shop: { ...prepared.shop, post: (path: string, body: unknown) => app.call('POST', path, { key: prepared.shop.secretKey, body }) },
      }
      ok(await reopened.shop.post(`/v2/orders/${prepared.order.id}/fulfil`, {}))
      ok(await reopened.shop.post(`/customer/${prepared.id}/erase`, {}))
    }
    // SQLite keeps a closed connection until its statements are collected. It must not write to the older file.
    Bun.gc(true)
    for (const ending of ['', '-wal', '-shm']) rmSync(`${file}${ending}`, { force: true })
    copyFileSync(older, file)
    now += day
    {
      await using app = await openApp()
      const { replayErasures } = await import('../../src/modules/customers/erasure/index.ts')
      expect((await tracesOf(app)).length).toBeGreaterThan(3)
      expect(await replayErasures(app.deps)).toBe(1)
      expect(await tracesOf(app)).toEqual([])
      expect(await replayErasures(app.deps)).toBe(0)
      // The order is unfinished in the older database, and completes without the personal data.
      expect((await app.call('GET', `/v2/orders/${prepared.order.id}`, { key: prepared.shop.secretKey })).body.status).toBe('CONFIRMED')
      const text = readFileSync(list, 'utf8')
      rmSync(list)
      await finishPendingErasures(app.deps)
      expect(readFileSync(list, 'utf8')).toBe(text)
      expect(app.logged.filter(({ event }) => event === 'erasures.list_missing')).toHaveLength(1)
      // A line that a crash cut off is counted as a damaged line.
      writeFileSync(list, `${text}{"customerId":"cus_`)
      expect(await replayErasures(app.deps)).toBe(0)
      expect(app.logged.filter(({ event }) => event === 'erasures.list_damaged')).toHaveLength(1)
      await app.deps.erasedList.append(['{}\n'])
      expect(readFileSync(list, 'utf8')).toBe(`${text}{"customerId":"cus_\n{}\n`)
    }
    expect(existsSync(file)).toBe(true)
  })
})
