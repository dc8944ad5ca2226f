/** Tests sweeping files without a document, and uploads to a full or unavailable store. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lendingDocuments } from '../../../../db/schema/lending.ts'
import { jobs, runJob } from '../../../../jobs/index.ts'
import { sealedLength } from '../../../../src/lib/sealed-stream.ts'
import { type S3Server, startS3 } from '../../../clients/documents/s3-server.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { borrower, documentPath, jpeg, lendingOn, png } from '../../../support/lending-documents.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const mb = 1024 * 1024
const dayMs = 24 * 60 * 60 * 1000
const filesOf = (app: TestApp) => readdirSync(join(app.database.dataDir, 'documents')).sort()
const sweep = (app: TestApp) => {
  const job = jobs.find(({ name }) => name === 'sweep-documents')
  if (!job) throw new Error('no such job')
  return runJob(job, app.deps)
}
const put = (app: TestApp, token: string, id: string) =>
  app.call('PUT', documentPath(id, 'owner_id'), { token, raw: png, headers: { 'content-type': 'image/png' } })
/** Sets the age of every file. */
function setAge(app: TestApp, ms: number): void {
  for (const name of filesOf(app)) {
    const at = (app.clock.now() - ms) / 1000
    utimesSync(join(app.database.dataDir, 'documents', name), at, at)
  }
}

test('the job removes complete and partial files without a document after a day, and no others', async () => {
  await using app = await testApp(lendingOn)
  const { merchant, id } = await borrower(app)
  ok(await put(app, merchant.token, id))
  const [ownFile = ''] = filesOf(app)
  const stray = ['a'.repeat(40), `${'b'.repeat(40)}.tmp`]
  for (const name of [...stray, 'notes.txt']) writeFileSync(join(app.database.dataDir, 'documents', name), 'x')
  setAge(app, dayMs - 1_000)
  await sweep(app)
  expect(filesOf(app)).toEqual([ownFile, ...stray, 'notes.txt'].sort())
  setAge(app, dayMs)
  await sweep(app)
  expect(filesOf(app)).toEqual([ownFile, 'notes.txt'].sort())
  expect(app.logged.filter(({ event }) => event === 'documents.swept').map(({ fields }) => fields)).toEqual([{ removed: 2 }])
  expect((await app.call('GET', documentPath(id, 'owner_id'), { token: merchant.token })).status).toBe(200)
})

test('the job sweeps the bucket page by page, and leftovers in the data directory', async () => {
  await using s3: S3Server = startS3({ pageSize: 3 })
  await using app = await testApp({ ...lendingOn, ...s3.settings })
  const { merchant, id } = await borrower(app)
  ok(await put(app, merchant.token, id))
  const [ownFile] = [...s3.objects.keys()]
  const old = new Date(app.clock.now() - dayMs)
  for (const stored of s3.objects.values()) stored.at = old
  for (let nth = 0; nth < 10; nth++)
    s3.objects.set(`souk/${String(nth).repeat(40)}`, { bytes: Buffer.from('x'), at: nth < 9 ? old : new Date(app.clock.now()) })
  s3.objects.set('others/file', { bytes: Buffer.from('x'), at: old })
  await sweep(app)
  expect([...s3.objects.keys()].sort()).toEqual([ownFile ?? '', `souk/${'9'.repeat(40)}`, 'others/file'].sort())
})

test('a file that cannot be removed with its row is swept later, and the response is unchanged', async () => {
  await using app = await testApp(lendingOn)
  const { merchant, id } = await borrower(app)
  ok(await put(app, merchant.token, id))
  const store = app.deps.documentStores.current
  const remove = store.delete
  Object.assign(store, { delete: () => Promise.reject(new Error('busy')) })
  ok(await app.call('PUT', documentPath(id, 'owner_id'), { token: merchant.token, raw: jpeg, headers: { 'content-type': 'image/jpeg' } }))
  expect(filesOf(app).length).toBe(2)
  expect(app.logged.filter(({ event }) => event === 'documents.file_left').length).toBe(1)
  Object.assign(store, { delete: remove })
  setAge(app, dayMs)
  await sweep(app)
  expect(filesOf(app).length).toBe(1)
})

test('a document whose row is refused leaves no file, as after a submission during the upload', async () => {
  await using app = await testApp(lendingOn)
  const { merchant, id } = await borrower(app)
  const store = app.deps.documentStores.current
  const originalPut = store.put
  Object.assign(store, {
    async put(name: string, chunks: AsyncIterable<Uint8Array>) {
      const stored = await originalPut.call(store, name, chunks)
      ok(await app.call('POST', `/lending-application/${id}/withdraw`, { token: merchant.token, body: {} }))
      return stored
    },
  })
  expect((await put(app, merchant.token, id)).status).toBe(409)
  expect(filesOf(app)).toEqual([])
})

test('with an unavailable store or a disk below its watermark an upload is 503, changes nothing and can be repeated', async () => {
  await using s3 = startS3()
  await using app = await testApp({ ...lendingOn, ...s3.settings })
  const { merchant, id } = await borrower(app)
  s3.fail('PUT', 403)
  const refused = await put(app, merchant.token, id)
  expect([refused.status, refused.headers.has('retry-after'), refused.body.message]).toEqual([
    503,
    true,
    'The document storage does not respond: nothing was changed, try again later',
  ])
  expect(s3.objects.size).toBe(0)
  ok(await put(app, merchant.token, id))
  await using full = await testApp({ ...lendingOn, DISK_FREE_MIN_MB: '1000000' })
  const other = await borrower(full)
  const noRoom = await put(full, other.merchant.token, other.id)
  expect([noRoom.status, noRoom.body.message]).toEqual([503, 'The document storage is full: nothing was changed, try again later'])
  expect(existsSync(join(full.database.dataDir, 'documents')) ? filesOf(full) : []).toEqual([])
})

test('uploads stop at twice the watermark of the disk including those in progress, and shops continue', async () => {
  await using app = await testApp({ ...lendingOn, DISK_FREE_MIN_MB: '100' })
  const { merchant, id } = await borrower(app)
  let free = 0
  Object.assign(app.deps.documentStores.current, { free: async () => free })
  const statusAt = async (bytes: number) => {
    free = bytes
    return (await put(app, merchant.token, id)).status
  }
  // The upload declares no length, so it counts with the maximum.
  const length = sealedLength(5 * mb)
  expect([await statusAt(200 * mb + length - 1), await statusAt(200 * mb + length)]).toEqual([503, 200])
  const release = app.deps.documentUploadSlots.take('another', undefined, 25 * mb)
  expect([await statusAt(225 * mb + length - 1), await statusAt(225 * mb + length)]).toEqual([503, 200])
  release()
  expect(await statusAt(200 * mb + length)).toBe(200)
  expect(app.deps.documentUploadSlots.weight()).toBe(0)
})

test('a document in a store that is no longer configured is 503 with a time to retry', async () => {
  await using app = await testApp(lendingOn)
  const { merchant, id } = await borrower(app)
  ok(await put(app, merchant.token, id))
  await app.deps.db.write(async (tx) => void (await tx.update(lendingDocuments).set({ store: 'S3' })))
  const { status, headers } = await app.call('GET', documentPath(id, 'owner_id'), { token: merchant.token })
  expect([status, headers.get('retry-after')]).toEqual([503, '5'])
})
