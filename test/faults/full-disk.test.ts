/** Tests that a full disk refuses writes, and only writes, until there is room. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { DatabaseFull } from '../../db/engine.ts'
import { openDatabase } from '../../db/open.ts'
import { attempts } from '../../db/schema/people.ts'
import { createReserve } from '../../db/sqlite/full-disk.ts'
import { explain } from '../../src/cli/failure.ts'
import { type TestApp, testApp } from '../support/app.ts'
import { booksOf, violationsAtRest } from '../support/books.ts'
import { temporaryDir } from '../support/database.ts'
import { approveBusiness } from '../support/kyb.ts'
import { uploadedDocuments } from '../support/lending.ts'
import { borrower, documentationOf, documentPath, lendingOn, pdf } from '../support/lending-documents.ts'
import { mergedState, newProcessorStates, simulateProcessors } from '../support/persistent-processors.ts'
import { processorSettings } from '../support/processor-settings.ts'
import { processorMismatches, signatureHeaders } from '../support/random-processor.ts'
import { instalmentBody, lenderIn, previewOf } from '../support/repayments.ts'
import { ok, sellingIn } from '../support/selling.ts'
import { canFillDisks, fillDisk, mountSmallDisk, unmountDisks } from '../support/small-disk.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hasSmallDisks = canFillDisks()
afterAll(unmountDisks)

/** Creates a shop on a small disk, with an order whose shopper is on Stripe's page. */
async function sellingOnSmallDisk() {
  const dataDir = mountSmallDisk(8) ?? ''
  const ballast = join(dataDir, 'ballast')
  const settings = { ...processorSettings, DATA_DIR: dataDir, DATABASE_URL: `file:${join(dataDir, 'souk.db')}` }
  const app = await testApp(settings, { diskFree: () => undefined })
  const shop = await sellingIn(app)
  ok(await app.call('PUT', '/shops/v2/payment-methods', { token: shop.token, body: { card: { enabled: true, processor: 'stripe' } } }))
  const outside = newProcessorStates()
  const played = simulateProcessors(app, outside)
  const { order } = ok(await shop.checkout(await shop.cart(), { processor: 'stripe' }), 201).body
  const [payment] = outside.at.stripe.storedPayments
  let events = 0
  const violations = async () => {
    const books = await booksOf(app)
    return [...violationsAtRest(books), ...processorMismatches(books, mergedState(outside))]
  }
  return {
    app,
    shop,
    played,
    orderId: order.id as string,
    fill: () => fillDisk(ballast),
    makeRoom: () => rmSync(ballast),
    pay: () => played.at.stripe.pay(payment?.reference ?? '', 1),
    /** Returns a function that sends a message about the payment. Every call sends the same message. */
    message(dispute?: 'OPEN') {
      const about = dispute ? { dispute: { reference: 'dp_1', amount: 1_000, currency: 'USD', state: dispute } } : {}
      const named = { paymentId: payment?.paymentId, reference: payment?.reference }
      const raw = JSON.stringify({ id: `evt_${++events}`, payment: named, ...about })
      return () => app.call('POST', '/webhooks/payments/stripe', { raw, headers: signatureHeaders })
    },
    violations,
    [Symbol.asyncDispose]: () => app.close(),
  }
}
const runJobsLater = async ({ clock, jobs }: TestApp) => {
  clock.advance(5 * 60_000)
  await jobs.messages()
  await jobs.resume()
}

const ballastBytes = 2 * 1024 * 1024
const row = (id: string) => ({ id, bucket: 'x'.repeat(50_000), at: 0 })

describe.skipIf(!hasSmallDisks)('a full disk', () => {
  test('on a full disk writes are refused, reads work, acknowledged rows stay, and writes resume when there is room', async () => {
    const dataDir = mountSmallDisk(8) ?? ''
    const ballast = join(dataDir, 'ballast')
    writeFileSync(ballast, new Uint8Array(ballastBytes))
    const { db } = await openDatabase({ url: `file:${join(dataDir, 'souk.db')}`, dataDir, as: 'server', now: 0, random: Math.random })
    const acknowledged: string[] = []
    let failure: unknown
    for (let nth = 0; nth < 200 && !failure; nth++) {
      const id = String(nth).padStart(3, '0')
      const results = await Promise.allSettled([
        db.write(async (tx) => void (await tx.insert(attempts).values(row(id)))),
        db.write(async (tx) => void (await tx.insert(attempts).values(row(`${id}b`)))),
      ])
      results.forEach((outcome, at) => {
        if (outcome.status === 'fulfilled') acknowledged.push(at === 0 ? id : `${id}b`)
        else failure = outcome.reason
      })
    }
    expect(failure).toBeInstanceOf(DatabaseFull)
    expect(acknowledged.length).toBeGreaterThan(5)

    const idsNow = async () => (await db.read.select({ id: attempts.id }).from(attempts)).map(({ id }) => id).sort()
    expect(await idsNow()).toEqual([...acknowledged].sort())
    const tooLarge = await db
      .write(async (tx) => void (await tx.insert(attempts).values({ ...row('too large'), bucket: 'x'.repeat(ballastBytes) })))
      .catch((error: unknown) => error)
    expect(tooLarge).toBeInstanceOf(DatabaseFull)

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

  for (const hasReserve of [true, false])
    test(`a start on a full disk with a long log ${hasReserve ? 'moves the log into the file' : 'without a reserve loses nothing, and works once there is room'}`, async () => {
      const from = temporaryDir()
      const ids: string[] = []
      // The state after a crash: everything is in the log, and `-shm` is missing.
      const source = await openDatabase({ url: `file:${join(from, 'souk.db')}`, dataDir: from, as: 'server', now: 0, random: Math.random })
      source.db.file?.holdLog()
      for (let nth = 0; nth < 60; nth++) {
        ids.push(String(nth).padStart(3, '0'))
        await source.db.write(async (tx) => void (await tx.insert(attempts).values(row(ids.at(-1) ?? ''))))
      }
      const dataDir = mountSmallDisk(120) ?? ''
      const file = join(dataDir, 'souk.db')
      for (const ending of ['', '-wal']) Bun.spawnSync(['cp', join(from, `souk.db${ending}`), `${file}${ending}`])
      await source.db.close()
      if (hasReserve) createReserve(file, 10 * 1024 * 1024)
      fillDisk(join(dataDir, 'ballast'))

      const options = { url: `file:${file}`, dataDir, as: 'server', now: 0, random: Math.random } as const
      const idsOf = async ({ db }: Awaited<ReturnType<typeof openDatabase>>) =>
        (await db.read.select({ id: attempts.id }).from(attempts)).map(({ id }) => id).sort()
      if (!hasReserve) {
        const refusal = await openDatabase(options).catch((error: unknown) => error)
        expect(explain(refusal, {}).text).toStartWith(`Disk full: ${file}`)
        rmSync(join(dataDir, 'ballast'))
      }
      const opened = await openDatabase(options)
      expect([opened.folded, statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0]).toEqual([
        hasReserve,
        hasReserve ? 0 : expect.any(Number),
      ])
      expect(await idsOf(opened)).toEqual(ids)
      await opened.db.write(async (tx) => void (await tx.insert(attempts).values(row('room again'))))
      await opened.db.close()
    })

  test('a start on a full disk without a WAL uses the reserve, which is filled with incompressible bytes', async () => {
    const dataDir = mountSmallDisk(120) ?? ''
    const file = join(dataDir, 'souk.db')
    const options = { url: `file:${file}`, dataDir, as: 'server', now: 0, random: Math.random } as const
    await (await openDatabase(options)).db.close()
    for (const ending of ['-wal', '-shm']) rmSync(`${file}${ending}`, { force: true })
    createReserve(file, 10 * 1024 * 1024)
    const reserve = readFileSync(`${file}-reserve`)
    expect([reserve.length, Bun.gzipSync(reserve).length > reserve.length * 0.9]).toEqual([10 * 1024 * 1024, true])
    fillDisk(join(dataDir, 'ballast'))
    const opened = await openDatabase(options)
    await opened.db.write(async (tx) => void (await tx.insert(attempts).values(row('a'))))
    expect(opened.folded).toBe(false)
    await opened.db.close()
  })

  test('on a full disk, writing requests are 503 with Retry-After, reads work, and writes succeed when there is room', async () => {
    const dataDir = mountSmallDisk(8) ?? ''
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
      code: 'unavailable',
    })
    expect((await app.call('GET', `/shops/v2/public/name/${shop.name}`)).status).toBe(200)
    expect((await app.call('GET', '/shops/v2', { token })).status).toBe(200)
    rmSync(ballast)
    expect((await app.call('PATCH', '/shops/v2', { token, body: { title: 'Room again' } })).body.title).toBe('Room again')
    expect((await app.call('GET', '/health/ready')).status).toBe(200)
  })

  test('/health/ready is 503 on a full disk and names diskSpace, and 200 again when there is room', async () => {
    const dataDir = mountSmallDisk(8) ?? ''
    const ballast = join(dataDir, 'ballast')
    const settings = { DATA_DIR: dataDir, DATABASE_URL: `file:${join(dataDir, 'souk.db')}`, DISK_FREE_MIN_MB: '1' }
    await using app = await testApp(settings)
    const ready = async () => {
      app.clock.advance(1_000)
      const { status, body } = await app.call('GET', '/health/ready')
      return [status, body.message]
    }
    expect(await ready()).toEqual([200, undefined])
    const { bavail, bsize } = statfsSync(dataDir)
    writeFileSync(ballast, new Uint8Array(bavail * bsize - 512 * 1024))
    expect(await ready()).toEqual([503, 'Not ready: diskSpace'])
    rmSync(ballast)
    expect(await ready()).toEqual([200, undefined])
  })

  test('on a full disk, a webhook of a payment or dispute is 503, and is accepted when there is room', async () => {
    await using fixture = await sellingOnSmallDisk()
    const { app, shop, orderId } = fixture
    fixture.pay()
    for (const send of [fixture.message(), fixture.message('OPEN')]) {
      fixture.fill()
      const refused = await send()
      expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([503, true])
      await app.jobs.messages()
      fixture.makeRoom()
      const before = (await booksOf(app)).messages.length
      for (let times = 0; times < 2; times++) ok(await send(), 200)
      await app.jobs.messages()
      expect((await booksOf(app)).messages.length).toBe(before + 1)
    }
    expect(await shop.order(orderId)).toMatchObject({ status: 'CONFIRMED', disputes: [{ status: 'OPEN' }] })
    expect(await fixture.violations()).toEqual([])
  })

  test('a webhook acknowledged, or a processor response received, just before the disk was full is not lost', async () => {
    await using fixture = await sellingOnSmallDisk()
    const { app, shop, orderId, played } = fixture
    fixture.pay()
    // The disk is full when the processor's response is stored, and later already when the call is.
    const fillOnce = () => {
      played.around((call) => call())
      fixture.fill()
    }
    played.around(async (call) => {
      const answer = await call()
      fillOnce()
      return answer
    })
    ok(await fixture.message()(), 200)
    await app.jobs.messages()
    expect((await booksOf(app)).messages).toMatchObject([{ resumeAt: expect.any(Number) }])
    expect((await fixture.message('OPEN')()).status).toBe(503)
    fixture.makeRoom()
    ok(await fixture.message('OPEN')(), 200)
    await runJobsLater(app)
    const { orders, messages, disputes } = await booksOf(app)
    expect(orders).toMatchObject([{ id: orderId, status: 'CONFIRMED', capturedTotal: 1_000 }])
    expect(messages).toMatchObject([{ resumeAt: null }, { resumeAt: null }])
    expect(disputes).toMatchObject([{ status: 'OPEN' }])
    expect(await shop.stock()).toEqual({ onHand: 9, reserved: 0 })
    expect(await fixture.violations()).toEqual([])
  })

  test('on a full disk, a processor account and go-live change nothing, and the same requests succeed later', async () => {
    await using fixture = await sellingOnSmallDisk()
    const { app, shop } = fixture
    await approveBusiness(app, shop, await app.superAdmin())
    fixture.pay()
    await app.jobs.messages()
    app.clock.advance(60_000)
    await app.jobs.resume()
    const { token } = shop
    const account = { secretKey: 'sk_test_own', publishableKey: 'pk_test_own', webhookSecret: 'whsec_own' }
    const put = () => app.call('PUT', '/shops/v2/processor-accounts/stripe', { token, body: account })
    const goLive = () => app.call('POST', '/shops/v2/go-live', { token, headers: { 'idempotency-key': 'the-one' } })
    for (const act of [put, goLive]) {
      fixture.fill()
      expect((await act()).body).toMatchObject({ statusCode: 503, message: expect.stringContaining('nothing was changed') })
      expect(ok(await app.call('GET', '/shops/v2', { token })).body.mode).toBe('TEST')
      ok(await shop.get('/product-v2'))
      fixture.makeRoom()
      ok(await act(), 200)
    }
    expect(ok(await app.call('GET', '/shops/v2', { token })).body.mode).toBe('LIVE')
    expect((await shop.get('/product-v2')).status).toBe(401)
    expect(ok(await goLive(), 200).body.publishableKey).toStartWith('pk_live_')
    expect(await fixture.violations()).toEqual([])
  })

  test('on a full disk, loan records do not change, and the same requests succeed when there is room', async () => {
    const dataDir = mountSmallDisk(8) ?? ''
    const ballast = join(dataDir, 'ballast')
    const settings = { ...lendingOn, DATA_DIR: dataDir, DATABASE_URL: `file:${join(dataDir, 'souk.db')}` }
    await using app = await testApp(settings, { diskFree: () => undefined })
    const { merchant, operator, id } = await borrower(app)
    const lenderId = await lenderIn(app, operator)
    const documentationCompleted = { ...uploadedDocuments({ cohort: 'US_COMPANY', selectedTier1Partner: null }), note: 'x'.repeat(20_000) }
    const reason = 'r'.repeat(2_000)
    const repayment = instalmentBody({ merchantId: merchant.id, lenderId })
    const acts: [method: string, path: string, body: object][] = [
      ['PATCH', `/lending-application/${id}`, { documentationCompleted }],
      ['POST', `/lending-application/${id}/submit`, {}],
      ['POST', `/admin/lending-application/${id}/decision`, { decision: 'UNDER_REVIEW', reason }],
      ['POST', `/admin/lending-application/${id}/decision`, { decision: 'APPROVED', reason }],
      ['POST', '/admin/repayments', repayment],
    ]
    const asOperator = { token: operator.token }
    const readState = async () => [
      ok(await app.call('GET', `/admin/lending-application/${id}`, asOperator)).body,
      ok(await app.call('GET', '/admin/repayments', asOperator)).body.total,
      ok(await previewOf(app, merchant.id)).body,
    ]
    for (const [method, path, body] of acts) {
      const act = () => app.call(method, path, { token: (path.startsWith('/admin') ? operator : merchant).token, body })
      const before = await readState()
      fillDisk(ballast)
      expect((await act()).body).toMatchObject({ statusCode: 503, message: expect.stringContaining('nothing was changed') })
      expect(await readState()).toEqual(before)
      rmSync(ballast)
      expect([path, (await act()).status < 300]).toEqual([path, true])
    }
    const [{ status, events }, total] = await readState()
    expect([status, events.length, total]).toEqual(['APPROVED', 4, 1])
  })

  test('a disk that fills during an upload stores nothing of it, and everything else keeps working', async () => {
    const dataDir = mountSmallDisk(12) ?? ''
    await using app = await testApp({ ...lendingOn, DATA_DIR: dataDir, DISK_FREE_MIN_MB: '0' })
    const { merchant, id } = await borrower(app)
    const put = (bytes: number) =>
      app.call('PUT', documentPath(id, 'bank_statements_12m'), {
        token: merchant.token,
        raw: pdf(bytes),
        headers: { 'content-type': 'application/pdf', 'content-length': String(bytes) },
      })
    ok(await put(100_000))
    const before = await documentationOf(app, id)
    // There is enough free space at the start, and too little after the upload.
    const free = app.deps.documentStores.current.free
    Object.assign(app.deps.documentStores.current, { free: async () => undefined })
    const refused = await put(20_000_000)
    expect([refused.status, refused.body.message]).toEqual([503, 'The disk is full: nothing was changed, try again later'])
    Object.assign(app.deps.documentStores.current, { free })
    expect(readdirSync(join(dataDir, 'documents')).length).toBe(1)
    expect(await documentationOf(app, id)).toEqual(before)
    expect((await app.call('GET', documentPath(id, 'bank_statements_12m'), { token: merchant.token })).text.length).toBe(100_000)
    expect((await put(20_000_000)).status).toBe(503)
    ok(await put(200_000))
  })
})
