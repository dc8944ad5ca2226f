/** The documents of a database lie in one place: a process that has another one is told, and takes and loses none. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, readdirSync, renameSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { jobs, runJob } from '../../../../jobs/index.ts'
import { confirmDocumentStores } from '../../../../src/modules/lending/lending-document/index.ts'
import { startS3 } from '../../../clients/documents/s3-server.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { temporaryDir } from '../../../support/database.ts'
import { borrower, lendingOn, pathOf, png } from '../../../support/lending-documents.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type Settings = Record<string, string>
/** Another process of the same database, with a data directory of its own unless it shares that. */
const beside = (app: TestApp, dataDir = temporaryDir(), settings: Settings = {}) =>
  testApp({ ...lendingOn, ...settings }, { database: { ...app.database, dataDir }, as: 'command' })
const started = ({ deps }: TestApp, sleep = deps.sleep): Promise<string> =>
  confirmDocumentStores({ ...deps, sleep }).then(
    () => 'started',
    (error: Error) => error.message,
  )
const put = (app: TestApp, { token }: { token: string }, id: string) =>
  app.call('PUT', pathOf(id, 'owner_id'), { token, raw: png, headers: { 'content-type': 'image/png' } })
const readyOf = async (app: TestApp) => {
  app.clock.advance(2_000)
  return (await app.call('GET', '/health/ready')).status
}
const lookAround = (app: TestApp) => {
  const job = jobs.find(({ name }) => name === 'look-around')
  if (!job) throw new Error('no such job')
  return runJob(job, app.deps)
}
const toldIn = (app: TestApp) => app.logged.map(({ event }) => event).filter((event) => event.startsWith('documents.'))

test('the second of two processes with different directories is refused at the start, is unready and answers 503, and no document is lost', async () => {
  await using first = await testApp(lendingOn)
  const { merchant, id } = await borrower(first)
  await using second = await beside(first)
  expect(await started(first)).toBe('started')
  ok(await put(first, merchant, id))
  // As one that has not looked yet: not found is not lost.
  const early = await second.call('GET', pathOf(id, 'owner_id'), { token: merchant.token })
  expect([early.status, early.headers.get('retry-after'), toldIn(second)]).toEqual([503, '5', ['documents.missing']])
  expect(await readyOf(second)).toBe(200)
  expect(await started(second)).toMatch(
    /^The documents of this database are not in .*\/documents, which has no file [0-9a-f]{40}: DATA_DIR is another one, .* need one DATA_DIR, on a disk that they share, or a bucket/,
  )
  expect(toldIn(second)).toEqual(['documents.missing', 'documents.other_store'])
  for (const method of ['GET', 'DELETE'])
    expect([method, (await second.call(method, pathOf(id, 'owner_id'), { token: merchant.token })).status]).toEqual([method, 503])
  expect((await put(second, merchant, id)).status).toBe(503)
  expect([await readyOf(second), await readyOf(first)]).toEqual([503, 200])
  ok(await first.call('GET', pathOf(id, 'owner_id'), { token: merchant.token }))
  expect(await started(first)).toBe('started')
})

test('a first process, concurrent starts on one directory and an instance without lending all start; no sweep removes the mark', async () => {
  await using first = await testApp(lendingOn)
  await using shared = await beside(first, first.database.dataDir)
  expect(await Promise.all([first, shared, first, shared].map((app) => started(app)))).toEqual(['started', 'started', 'started', 'started'])
  await using without = await beside(first, temporaryDir(), { LENDING_PLATFORM_ENABLED: 'false' })
  expect([await started(without), await readyOf(without), toldIn(without)]).toEqual(['started', 200, []])
  const directory = join(first.database.dataDir, 'documents')
  for (const name of readdirSync(directory)) utimesSync(join(directory, name), 0, 0)
  const sweep = jobs.find(({ name }) => name === 'sweep-documents')
  if (sweep) await runJob(sweep, first.deps)
  expect([await started(first), readdirSync(directory).length]).toEqual(['started', 1])
})

test('a directory that disappears makes a running process unready until it is back', async () => {
  await using app = await testApp(lendingOn)
  const { merchant, id } = await borrower(app)
  await started(app)
  const directory = join(app.database.dataDir, 'documents')
  renameSync(directory, `${directory}.away`)
  mkdirSync(directory)
  await lookAround(app)
  await lookAround(app)
  expect([await readyOf(app), (await put(app, merchant, id)).status, toldIn(app)]).toEqual([503, 503, ['documents.other_store']])
  renameSync(directory, `${directory}.other`)
  renameSync(`${directory}.away`, directory)
  await lookAround(app)
  expect([await readyOf(app), (await put(app, merchant, id)).status]).toEqual([200, 200])
})

test('another bucket is refused like another directory, and one unavailable at the start is checked again later', async () => {
  await using s3 = startS3()
  await using app = await testApp({ ...lendingOn, ...s3.settings })
  const { merchant, id } = await borrower(app)
  s3.fail('PUT', 403)
  expect(await started(app)).toBe('started')
  while (app.deps.storeVerdicts.get('S3') !== 'SILENT') await new Promise((resume) => setImmediate(resume))
  expect([await readyOf(app), s3.objects.size]).toEqual([200, 0])
  await lookAround(app)
  expect(s3.objects.size).toBe(1)
  ok(await put(app, merchant, id))
  await using other = startS3()
  await using second = await beside(app, app.database.dataDir, other.settings)
  const waiting = () => new Promise<void>(() => undefined)
  expect(await started(second, waiting)).toMatch(
    /^The documents of this database are not in the bucket .* there is no object [0-9a-f]{40}\./,
  )
})
