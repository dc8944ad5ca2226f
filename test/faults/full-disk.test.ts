/** A full disk refuses writes, honestly and for as long as it is full, and nothing else. */
import { afterAll, describe, expect, test } from 'bun:test'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { engine } from '../../db/columns.ts'
import { DatabaseFull } from '../../db/engine.ts'
import { openDatabase } from '../../db/open.ts'
import { attempts } from '../../db/schema/people.ts'
import { testApp } from '../support/app.ts'
import { temporaryDir } from '../support/database.ts'
import { borrower, lendingOn, pathOf, pdf, saidOf } from '../support/lending-documents.ts'
import { ok } from '../support/selling.ts'

const mounted: string[] = []

/** A disk of a few megabytes, or undefined where this process may not mount one. */
function smallDisk(megabytes: number): string | undefined {
  const dir = temporaryDir()
  const { exitCode } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `mode=700,size=${megabytes}m`, 'tmpfs', dir], {
    stdout: 'ignore',
    stderr: 'ignore',
  })
  if (exitCode !== 0) return undefined
  mounted.push(dir)
  return dir
}

const probe = engine === 'sqlite' ? smallDisk(1) : undefined
if (engine === 'sqlite' && !probe)
  process.stdout.write('skipped: a full disk cannot be tried, because this process may not mount a small one\n')

afterAll(() => {
  for (const dir of mounted) Bun.spawnSync(['umount', '-l', dir])
})

const ballastBytes = 2 * 1024 * 1024
const row = (id: string) => ({ id, bucket: 'x'.repeat(50_000), at: 0 })

describe.skipIf(!probe)('on a full disk', () => {
  test('on a full disk writes are refused as DatabaseFull, reads go on, what was acknowledged stays, and writes resume when there is room', async () => {
    const dataDir = smallDisk(6) ?? ''
    const ballast = join(dataDir, 'ballast')
    writeFileSync(ballast, new Uint8Array(ballastBytes))
    const { db } = await openDatabase({ url: `file:${join(dataDir, 'souk.db')}`, dataDir, as: 'server', now: 0, random: Math.random })
    const acknowledged: string[] = []
    let failure: unknown
    for (let nth = 0; nth < 200 && !failure; nth++) {
      const id = String(nth).padStart(3, '0')
      const both = await Promise.allSettled([
        db.write(async (tx) => void (await tx.insert(attempts).values(row(id)))),
        db.write(async (tx) => void (await tx.insert(attempts).values(row(`${id}b`)))),
      ])
      both.forEach((outcome, at) => {
        if (outcome.status === 'fulfilled') acknowledged.push(at === 0 ? id : `${id}b`)
        else failure = outcome.reason
      })
    }
    expect(failure).toBeInstanceOf(DatabaseFull)
    expect(acknowledged.length).toBeGreaterThan(5)

    const idsNow = async () => (await db.read.select({ id: attempts.id }).from(attempts)).map(({ id }) => id).sort()
    expect(await idsNow()).toEqual([...acknowledged].sort())
    const again = await db
      .write(async (tx) => void (await tx.insert(attempts).values({ ...row('too large'), bucket: 'x'.repeat(ballastBytes) })))
      .catch((error: unknown) => error)
    expect(again).toBeInstanceOf(DatabaseFull)

    rmSync(ballast)
    await db.write(async (tx) => void (await tx.insert(attempts).values(row('room again'))))
    expect(await idsNow()).toEqual([...acknowledged, 'room again'].sort())
    await db.write(async (tx) => void (await tx.delete(attempts).where(eq(attempts.id, 'room again'))))
    await db.close()
    const { db: reopened } = await openDatabase({
      url: `file:${join(dataDir, 'souk.db')}`,
      dataDir,
      as: 'server',
      now: 0,
      random: Math.random,
    })
    expect((await reopened.read.select({ id: attempts.id }).from(attempts)).length).toBe(acknowledged.length)
    await reopened.close()
  })

  test('on a full disk a request that writes is answered 503 with Retry-After, one that reads is answered, and readiness says so', async () => {
    const dataDir = smallDisk(6) ?? ''
    const ballast = join(dataDir, 'ballast')
    await using app = await testApp({ DATA_DIR: dataDir, DATABASE_URL: `file:${join(dataDir, 'souk.db')}` }, { diskFree: () => undefined })
    const { token, shop } = await app.merchant()
    writeFileSync(ballast, new Uint8Array(1024 * 1024))
    const fill = async () => app.deps.db.write(async (tx) => void (await tx.insert(attempts).values(row(crypto.randomUUID()))))
    for (let nth = 0; nth < 200; nth++)
      if (
        !(await fill().then(
          () => true,
          () => false,
        ))
      )
        break
    const description = 'd'.repeat(5_000)
    let refused = await app.call('PATCH', '/shops/v2', { token, body: { description } })
    for (let nth = 0; nth < 50 && refused.status === 200; nth++)
      refused = await app.call('PATCH', '/shops/v2', { token, body: { description } })
    expect(refused.status).toBe(503)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.body).toEqual({
      statusCode: 503,
      message: 'The disk is full: nothing was changed, try again later',
      error: 'Service Unavailable',
    })
    expect((await app.call('GET', `/shops/v2/public/name/${shop.name}`)).status).toBe(200)
    expect((await app.call('GET', '/shops/v2', { token })).status).toBe(200)
    rmSync(ballast)
    expect((await app.call('PATCH', '/shops/v2', { token, body: { title: 'Room again' } })).body.title).toBe('Room again')
    expect((await app.call('GET', '/health/ready')).status).toBe(200)
  })

  test('a disk that fills up while a document comes leaves nothing of it, the application as it was, and everything else at work', async () => {
    const dataDir = smallDisk(12) ?? ''
    await using app = await testApp({ ...lendingOn, DATA_DIR: dataDir, DISK_FREE_MIN_MB: '0' })
    const { merchant, id } = await borrower(app)
    const put = (bytes: number) =>
      app.call('PUT', pathOf(id, 'bank_statements_12m'), {
        token: merchant.token,
        raw: pdf(bytes),
        headers: { 'content-type': 'application/pdf', 'content-length': String(bytes) },
      })
    ok(await put(100_000))
    const before = await saidOf(app, id)
    // Enough by what is free when it begins, and not any more once it is there.
    const free = app.deps.documentStores.current.free
    Object.assign(app.deps.documentStores.current, { free: async () => undefined })
    const refused = await put(20_000_000)
    expect([refused.status, refused.body.message]).toEqual([503, 'The disk is full: nothing was changed, try again later'])
    Object.assign(app.deps.documentStores.current, { free })
    expect(readdirSync(join(dataDir, 'documents')).length).toBe(1)
    expect(await saidOf(app, id)).toEqual(before)
    expect((await app.call('GET', pathOf(id, 'bank_statements_12m'), { token: merchant.token })).text.length).toBe(100_000)
    expect((await put(20_000_000)).status).toBe(503)
    ok(await put(200_000))
  })
})
