/** Tests that all documents of a database are in one store: a process with another store is refused and loses none. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, readdirSync, renameSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { jobs, runJob } from '../../../../jobs/index.ts'
import { confirmDocumentStores } from '../../../../src/modules/lending/lending-document/index.ts'
import { startS3 } from '../../../clients/documents/s3-server.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { temporaryDir } from '../../../support/database.ts'
import { borrower, documentPath, lendingOn, png } from '../../../support/lending-documents.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type Settings = Record<string, string>
/** Opens another process on the same database, with its own data directory by default. */
const openSecondProcess = (app: TestApp, dataDir = temporaryDir(), settings: Settings = {}) =>
  testApp({ ...lendingOn, ...settings }, { database: { ...app.database, dataDir }, as: 'command' })
const tryStart = ({ deps }: TestApp, sleep = deps.sleep): Promise<string> =>
  confirmDocumentStores({ ...deps, sleep }).then(
    () => 'started',
    (error: Error) => error.message,
  )
const put = (app: TestApp, { token }: { token: string }, id: string) =>
  app.call('PUT', documentPath(id, 'owner_id'), { token, raw: png, headers: { 'content-type': 'image/png' } })
const readyOf = async (app: TestApp) => {
  app.clock.advance(2_000)
  return (await app.call('GET', '/health/ready')).status
}
const runLookAround = (app: TestApp) => {
  const job = jobs.find(({ name }) => name === 'look-around')
  if (!job) throw new Error('no such job')
  return runJob(job, app.deps)
}
const documentEventsOf = (app: TestApp) => app.logged.map(({ event }) => event).filter((event) => event.startsWith('documents.'))

test('of two processes with different directories the second is refused at the start, is unready and responds with 503, and no document is lost', async () => {
  await using first = await testApp(lendingOn)
  const { merchant, id } = await borrower(first)
  await using second = await openSecondProcess(first)
  expect(await tryStart(first)).toBe('started')
  ok(await put(first, merchant, id))
  // Before its check, a process does not report a missing document as lost.
  const early = await second.call('GET', documentPath(id, 'owner_id'), { token: merchant.token })
  expect([early.status, early.headers.get('retry-after'), documentEventsOf(second)]).toEqual([503, '5', ['documents.missing']])
  expect(await readyOf(second)).toBe(200)
  expect(await tryStart(second)).toMatch(
    /^The documents of this database are not in .*\/documents, which has no file [0-9a-f]{40}: DATA_DIR is another one, .* need the same DATA_DIR on a shared disk, or a bucket/,
  )
  expect(documentEventsOf(second)).toEqual(['documents.missing', 'documents.other_store'])
  for (const method of ['GET', 'DELETE'])
    expect([method, (await second.call(method, documentPath(id, 'owner_id'), { token: merchant.token })).status]).toEqual([method, 503])
  expect((await put(second, merchant, id)).status).toBe(503)
  expect([await readyOf(second), await readyOf(first)]).toEqual([503, 200])
  ok(await first.call('GET', documentPath(id, 'owner_id'), { token: merchant.token }))
  expect(await tryStart(first)).toBe('started')
})

test('a first process, concurrent starts on one directory and an instance without lending all start; no sweep removes the mark', async () => {
  await using first = await testApp(lendingOn)
  await using shared = await openSecondProcess(first, first.database.dataDir)
  expect(await Promise.all([first, shared, first, shared].map((app) => tryStart(app)))).toEqual([
    'started',
    'started',
    'started',
    'started',
  ])
  await using withoutLending = await openSecondProcess(first, temporaryDir(), { LENDING_PLATFORM_ENABLED: 'false' })
  expect([await tryStart(withoutLending), await readyOf(withoutLending), documentEventsOf(withoutLending)]).toEqual(['started', 200, []])
  const directory = join(first.database.dataDir, 'documents')
  for (const name of readdirSync(directory)) utimesSync(join(directory, name), 0, 0)
  const sweep = jobs.find(({ name }) => name === 'sweep-documents')
  if (sweep) await runJob(sweep, first.deps)
  expect([await tryStart(first), readdirSync(directory).length]).toEqual(['started', 1])
})

test('a directory that disappears makes a running process unready until it is back', async () => {
  await using app = await testApp(lendingOn)
  const { merchant, id } = await borrower(app)
  await tryStart(app)
  const directory = join(app.database.dataDir, 'documents')
  renameSync(directory, `${directory}.away`)
  mkdirSync(directory)
  await runLookAround(app)
  await runLookAround(app)
  expect([await readyOf(app), (await put(app, merchant, id)).status, documentEventsOf(app)]).toEqual([503, 503, ['documents.other_store']])
  renameSync(directory, `${directory}.other`)
  renameSync(`${directory}.away`, directory)
  await runLookAround(app)
  expect([await readyOf(app), (await put(app, merchant, id)).status]).toEqual([200, 200])
})

test('another bucket is refused like another directory, and one unavailable at the start is checked again later', async () => {
  await using s3 = startS3()
  await using app = await testApp({ ...lendingOn, ...s3.settings })
  const { merchant, id } = await borrower(app)
  s3.fail('PUT', 403)
  expect(await tryStart(app)).toBe('started')
  while (app.deps.storeVerdicts.get('S3') !== 'SILENT') await new Promise((resume) => setImmediate(resume))
  expect([await readyOf(app), s3.objects.size]).toEqual([200, 0])
  await runLookAround(app)
  expect(s3.objects.size).toBe(1)
  ok(await put(app, merchant, id))
  await using other = startS3()
  await using second = await openSecondProcess(app, app.database.dataDir, other.settings)
  const waiting = () => new Promise<void>(() => undefined)
  expect(await tryStart(second, waiting)).toMatch(
    /^The documents of this database are not in the bucket .* there is no object [0-9a-f]{40}\./,
  )
})
