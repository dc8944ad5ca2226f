/** Tests scheduled backups: complete, retained by a rule, and reported when late. */
import { Database as Sqlite } from 'bun:sqlite'
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { encryptionKeys } from '../../../../db/schema/people.ts'
import { jobs, runJob } from '../../../../jobs/index.ts'
import { createFolderStore } from '../../../../src/clients/backups/folder.ts'
import {
  type BackupPlace,
  backUp,
  findBackup,
  listBackups,
  type Manifest,
  openedTarget,
  quickCheck,
  readKeys,
  warnOfSameDisk,
  watchBackups,
} from '../../../../src/modules/operations/backup/index.ts'
import { shipLog } from '../../../../src/modules/operations/log-shipping/index.ts'
import { type S3Server, startS3 } from '../../../clients/documents/s3-server.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { temporaryDir } from '../../../support/database.ts'
import { borrower, documentPath, lendingOn, pdf } from '../../../support/lending-documents.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hour = 60 * 60 * 1000
const day = 24 * hour
const passphrase = 'twelve words that nobody guesses'

const servers: S3Server[] = []
const mounted: string[] = []
afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]()
  for (const dir of mounted) Bun.spawnSync(['umount', '-l', dir])
})
function startBucket() {
  const server = startS3()
  servers.push(server)
  const settings = Object.fromEntries(Object.entries(server.settings).map(([name, value]) => [name.replace('DOCUMENTS', 'BACKUP'), value]))
  return { server, settings: { ...settings, BACKUP_PASSPHRASE: passphrase } as Record<string, string> }
}
const namesIn = (folder: string) =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => /^\d{8}T/.test(name))
        .sort()
    : []
const manifestIn = (folder: string, name = namesIn(folder).at(-1) ?? ''): Manifest =>
  JSON.parse(readFileSync(join(folder, name, 'manifest.json'), 'utf8'))
const eventsOf = (app: TestApp, event: string) => app.logged.filter((line) => line.event === event)
const metricOf = async (app: TestApp, name: string) => new RegExp(`^${name} (.+)$`, 'm').exec((await app.call('GET', '/metrics')).text)?.[1]
const upload = (app: TestApp, token: string, id: string, key: string, bytes: Buffer) =>
  app.call('PUT', documentPath(id, key), { token, raw: bytes, headers: { 'content-type': 'application/pdf' } })

test.skipIf(engine === 'sqlite')('with PostgreSQL souk makes no backups, and the start reports that once', async () => {
  const folder = join(temporaryDir(), 'copies')
  await using app = await testApp({ BACKUP_DIR: folder })
  for (const name of ['back-up', 'watch-backups', 'quick-check']) await runJob(jobs.find((job) => job.name === name) as never, app.deps)
  expect([
    existsSync(folder),
    app.logged.map(({ event }) => event).filter((event) => event !== 'limits.by_process'),
    (await app.call('GET', '/metrics')).text.match(/^souk_(?:backup|database_(?:log|damaged)).*/gm),
  ]).toEqual([false, ['backup.not_of_postgres'], null])
})

describe.skipIf(engine !== 'sqlite')('scheduled backups with SQLite', () => {
  test('a backup is an intact database of committed data, with a manifest', async () => {
    const folder = join(temporaryDir(), 'copies')
    await using app = await testApp({ BACKUP_DIR: folder })
    await app.merchant({ shopName: 'kept' })
    expect(await backUp(app.deps)).toEqual({ made: 1 })
    const manifest = manifestIn(folder)
    const file = join(folder, manifest.name, 'souk.db')
    expect(manifest).toMatchObject({ souk: app.deps.build.version, at: app.clock.now(), missing: [], withKeys: false })
    expect(manifest.keys).toEqual(app.deps.keyring.encryption().map(({ version }) => version))
    expect([statSync(file).size, statSync(file).mode & 0o777]).toEqual([manifest.database.bytes, 0o600])
    expect(new Bun.CryptoHasher('sha256').update(readFileSync(file)).digest('hex')).toBe(manifest.database.sha256)
    using copy = new Sqlite(file, { readonly: true })
    expect(copy.query<{ title: string }, []>('SELECT title FROM shops').get()?.title).toBe('kept')
    expect(manifest.database.rows['shops']).toBe(1)
    // No temporary files are left in the target or the data directory.
    expect(readdirSync(folder)).toEqual([manifest.name])
    expect(readdirSync(join(app.deps.config.dataDir, 'backups'))).toEqual([])
    expect(await metricOf(app, 'souk_backup_last_success_timestamp_seconds')).toBe(String(app.clock.now() / 1000))
    app.clock.advance(hour)
    expect(await metricOf(app, 'souk_backup_age_seconds')).toBe('3600')
    expect(await metricOf(app, 'souk_backup_bytes')).toBe(String(manifest.database.bytes))
  })

  test('each document is copied once for all backups, and removed after the last of them', async () => {
    const folder = join(temporaryDir(), 'copies')
    await using app = await testApp({
      ...lendingOn,
      BACKUP_DIR: folder,
      BACKUP_KEEP_DAILY: '1',
      BACKUP_KEEP_WEEKLY: '0',
      BACKUP_KEEP_MONTHLY: '0',
    })
    const { merchant, id } = await borrower(app)
    expect((await upload(app, merchant.token, id, 'ein_letter', pdf(200_000))).status).toBe(200)
    await backUp(app.deps)
    const [name = ''] = manifestIn(folder).documents
    const inode = statSync(join(folder, 'documents', name)).ino
    expect(readFileSync(join(folder, 'documents', name))).toEqual(readFileSync(join(app.deps.config.dataDir, 'documents', name)))
    app.clock.advance(day)
    await backUp(app.deps)
    expect([namesIn(folder).length, statSync(join(folder, 'documents', name)).ino]).toEqual([1, inode])
    const { email, password } = merchant
    const { body } = await app.call('POST', '/merchant/login', { body: { email, password } })
    // The replaced document is removed with the last backup that names it, once it is a day old.
    expect((await upload(app, body.data.accessToken, id, 'ein_letter', pdf(100_000))).status).toBe(200)
    app.clock.set(Date.now() + 2 * day)
    await backUp(app.deps)
    expect(readdirSync(join(folder, 'documents'))).toEqual([...manifestIn(folder).documents])
    expect(manifestIn(folder).documents).not.toContain(name)
  })

  test('altered documents in targets are repaired within seven days, and a good one is never replaced by a damaged one', async () => {
    const folder = join(temporaryDir(), 'copies')
    const { server, settings } = startBucket()
    await using app = await testApp({ ...lendingOn, ...settings, BACKUP_DIR: folder })
    const { merchant, id } = await borrower(app)
    await upload(app, merchant.token, id, 'ein_letter', pdf(200_000))
    await backUp(app.deps)
    const [name = ''] = readdirSync(join(folder, 'documents'))
    const original = join(app.deps.config.dataDir, 'documents', name)
    const [copy, object] = [join(folder, 'documents', name), `souk-backups/documents/${name}`]
    const good = readFileSync(original)
    const altered = Buffer.from(good)
    altered[100_000] = (altered[100_000] ?? 0) ^ 1
    const passWeek = async () => {
      for (let nth = 0; nth < 7; nth++) {
        app.clock.advance(day)
        await backUp(app.deps)
      }
    }
    const isGood = () => [readFileSync(copy), server.objects.get(object)?.bytes].map((bytes) => bytes && good.equals(bytes))
    writeFileSync(copy, altered)
    server.objects.set(object, { bytes: altered, at: new Date() })
    await passWeek()
    expect([isGood(), eventsOf(app, 'backup.document_mended').length, eventsOf(app, 'backup.document_damaged').length]).toEqual([
      [true, true],
      2,
      0,
    ])
    writeFileSync(original, altered)
    await passWeek()
    expect([isGood(), eventsOf(app, 'backup.document_mended').length, eventsOf(app, 'backup.document_damaged').length]).toEqual([
      [true, true],
      2,
      2,
    ])
  })

  test('the start reports backups on the data disk', async () => {
    await using app = await testApp({ BACKUP_DIR: join(temporaryDir(), 'copies') })
    warnOfSameDisk({ ...app.deps, deviceOf: (path) => path.length })
    expect(eventsOf(app, 'backup.same_disk')).toEqual([])
    warnOfSameDisk({ ...app.deps, deviceOf: () => 7 })
    expect(eventsOf(app, 'backup.same_disk').length).toBe(1)
  })

  test('missing documents are reported, and the rest is backed up', async () => {
    const folder = join(temporaryDir(), 'copies')
    await using app = await testApp({ ...lendingOn, BACKUP_DIR: folder })
    const { merchant, id } = await borrower(app)
    await upload(app, merchant.token, id, 'ein_letter', pdf())
    rmSync(join(app.deps.config.dataDir, 'documents'), { recursive: true })
    expect(await backUp(app.deps)).toEqual({ made: 1 })
    expect(manifestIn(folder).missing).toEqual(manifestIn(folder).documents)
    expect(eventsOf(app, 'backup.documents_missing').length).toBe(1)
  })

  test('expired backups are removed, but none of another instance, no other files and no unreadable backups', async () => {
    const folder = join(temporaryDir(), 'copies')
    const settings = { BACKUP_DIR: folder, BACKUP_KEEP_DAILY: '2', BACKUP_KEEP_WEEKLY: '0', BACKUP_KEEP_MONTHLY: '0' }
    await using other = await testApp({ ...settings, ENCRYPTION_KEY: 'another-encryption-key-of-another-instance' })
    await backUp(other.deps)
    const [otherName = ''] = namesIn(folder)
    for (const name of ['20200101T000000000Z', 'mine']) mkdirSync(join(folder, name))
    writeFileSync(join(folder, '20200101T000000000Z', 'manifest.json'), 'not one of ours')
    writeFileSync(join(folder, 'mine', 'notes'), 'mine')
    await using app = await testApp(settings)
    for (let nth = 0; nth < 4; nth++) {
      app.clock.advance(day)
      await backUp(app.deps)
    }
    const ownNames = namesIn(folder).filter((name) => name > otherName)
    expect([ownNames.length, existsSync(join(folder, otherName)), readdirSync(join(folder, 'mine'))]).toEqual([2, true, ['notes']])
    expect(existsSync(join(folder, '20200101T000000000Z', 'manifest.json'))).toBe(true)
    expect(eventsOf(app, 'backup.removed').length).toBe(2)
  })

  test('everything in a bucket is sealed, including the keys', async () => {
    const { server, settings } = startBucket()
    await using app = await testApp({ ...settings, ...lendingOn })
    const { merchant, id } = await borrower(app)
    await upload(app, merchant.token, id, 'ein_letter', pdf())
    expect(await backUp(app.deps)).toEqual({ made: 1 })
    const names = [...server.objects.keys()]
    const parts = ['documents/', 'keys/', 'souk.db', 'manifest.json', 'keys.json']
    expect(parts.filter((part) => !names.some((name) => name.startsWith('souk-backups/') && name.includes(part)))).toEqual([])
    const all = Buffer.concat([...server.objects.values()].map(({ bytes }) => bytes)).toString('latin1')
    for (const secret of ['SQLite format', 'merchant1@example.com', 'lending_documents', 'test-only-encryption', passphrase, '%PDF'])
      expect([secret, all.includes(secret)]).toEqual([secret, false])
  })

  test('backups that are not sealed with the passphrase are ignored: write access to the bucket is not enough to forge a backup', async () => {
    const folder = join(temporaryDir(), 'copies')
    await using unsealed = await testApp({ BACKUP_DIR: folder })
    unsealed.clock.advance(hour)
    await backUp(unsealed.deps)
    const { server, settings } = startBucket()
    await using app = await testApp(settings)
    await backUp(app.deps)
    const [forgedName = ''] = namesIn(folder)
    for (const part of ['manifest.json', 'souk.db'])
      server.objects.set(`souk-backups/${forgedName}/${part}`, { bytes: readFileSync(join(folder, forgedName, part)), at: new Date() })
    const [firstPlace] = app.deps.backupPlaces
    const target = await openedTarget(app.deps, firstPlace as NonNullable<typeof firstPlace>)
    const { backups, unreadable } = await listBackups(target)
    expect([backups.length, unreadable, backups.some(({ name }) => name === forgedName)]).toEqual([1, [forgedName], false])
    await expect(findBackup(target, forgedName, app.clock.now())).rejects.toThrow("can't be opened")
    const found = await findBackup(target, backups[0]?.name ?? '', app.clock.now())
    // A changed key file is reported as such.
    const keys = `souk-backups/${found.manifest.name}/keys.json`
    server.objects.set(keys, { bytes: Buffer.from('{}'), at: new Date() })
    await expect(readKeys(found)).rejects.toThrow('The keys of backup')
  })

  test('if the newest backup is unreadable, the error names it and the last readable one', async () => {
    const folder = join(temporaryDir(), 'copies')
    await using app = await testApp({ BACKUP_DIR: folder })
    await backUp(app.deps)
    app.clock.advance(hour)
    await backUp(app.deps)
    const [older = '', newer = ''] = namesIn(folder)
    const [firstPlace] = app.deps.backupPlaces
    const latestName = async () =>
      findBackup(await openedTarget(app.deps, firstPlace as NonNullable<typeof firstPlace>), 'latest', app.clock.now()).then(
        ({ manifest }) => manifest.name,
      )
    expect(await latestName()).toBe(newer)
    const record = join(folder, newer, 'manifest.json')
    const originalText = readFileSync(record, 'utf8')
    for (const damaged of ['{', originalText.replace('"version": 1', '"version": 99')]) {
      writeFileSync(record, damaged)
      await expect(latestName()).rejects.toThrow(new RegExp(`${newer}, can't be read: .*The last readable backup is ${older}`))
    }
    writeFileSync(record, originalText)
    writeFileSync(join(folder, older, 'manifest.json'), '{')
    expect(await latestName()).toBe(newer)
  })

  test('the log is shipped under the same instance name as backups, even after key rotations', async () => {
    const folder = join(temporaryDir(), 'copies')
    await using app = await testApp({ BACKUP_DIR: folder, SHIP_LOG_SECONDS: '1' })
    const newer = { version: 'ffffffff', fingerprint: 'of another key', createdAt: app.clock.now() + 1, retiredAt: null }
    await app.deps.db.write(async (tx) => {
      await tx.update(encryptionKeys).set({ retiredAt: app.clock.now() })
      await tx.insert(encryptionKeys).values(newer)
    })
    await backUp(app.deps)
    const shipping = await shipLog({ ...app.deps, sleep: Bun.sleep })
    await shipping?.stop()
    expect(readdirSync(join(folder, 'wal'))).toEqual([manifestIn(folder).instance])
  })

  test('if a target is unavailable, the others get their backup, and the failure is reported and retried', async () => {
    const folder = join(temporaryDir(), 'copies')
    const { server, settings } = startBucket()
    await using app = await testApp({ ...settings, BACKUP_DIR: folder })
    server.fail('GET', 403)
    await expect(backUp(app.deps)).rejects.toThrow('No new backup in bucket')
    expect([namesIn(folder).length, server.objects.size]).toEqual([1, 0])
    expect(eventsOf(app, 'backup.failed').length).toBe(1)
    expect(await metricOf(app, 'souk_backup_failures_total')).toBe('1')
    app.clock.advance(hour)
    for (let nth = 0; nth < 4; nth++) server.fail('PUT', 500)
    await expect(backUp(app.deps)).rejects.toThrow('No new backup in bucket')
    // A partial backup does not count.
    expect([...server.objects.keys()].filter((name) => name.endsWith('manifest.json'))).toEqual([])
    app.clock.advance(hour)
    expect(await watchBackups(app.deps)).toEqual({ isLate: false })
    expect([...server.objects.keys()].filter((name) => name.endsWith('manifest.json')).length).toBe(1)
    // The folder has a new backup already and gets no more.
    expect(namesIn(folder).length).toBe(2)
  })

  test('backups of other instances do not count for the first backup or for lateness', async () => {
    const folder = join(temporaryDir(), 'copies')
    await using other = await testApp({ BACKUP_DIR: folder, ENCRYPTION_KEY: 'another-encryption-key-of-another-instance' })
    await backUp(other.deps)
    await using app = await testApp({ BACKUP_DIR: folder, BACKUP_LATE_HOURS: '30' })
    app.clock.set(other.clock.now() + hour)
    await watchBackups(app.deps)
    expect(namesIn(folder).length).toBe(2)
    app.clock.advance(31 * hour)
    other.clock.set(app.clock.now())
    await backUp(other.deps)
    const full = { ...app.deps, diskFree: () => 0 }
    await expect(watchBackups(full)).rejects.toThrow('No new backup')
    expect([eventsOf(app, 'backup.late').length, await metricOf(app, 'souk_backup_late')]).toEqual([1, '1'])
  })

  test('an unavailable target does not delay the other targets, in this run or the next', async () => {
    const [folder, hung] = [join(temporaryDir(), 'copies'), join(temporaryDir(), 'hung')]
    await using app = await testApp({ BACKUP_DIR: folder })
    const waiting = Promise.withResolvers<number>()
    // The backup may end before its status is read.
    waiting.promise.catch(() => undefined)
    const hungStore = createFolderStore(hung, Date.now)
    const unresponsive: BackupPlace = {
      isNamed: true,
      store: { ...hungStore, kind: 'S3', put: () => waiting.promise, adopt: async () => false },
    }
    const deps = { ...app.deps, backupPlaces: [unresponsive, ...app.deps.backupPlaces] }
    const firstRun = backUp(deps)
    const hasMade = (count: number) => eventsOf(app, 'backup.made').length === count
    while (!hasMade(1)) await Bun.sleep(5)
    expect(namesIn(folder).length).toBe(1)
    app.clock.advance(hour)
    expect(await backUp(deps)).toEqual({ made: 1 })
    expect([namesIn(folder).length, eventsOf(app, 'backup.failed').length]).toEqual([2, 0])
    waiting.reject(new Error('gone'))
    await expect(firstRun).rejects.toThrow(`No new backup in ${hung}`)
    expect(readdirSync(join(app.deps.config.dataDir, 'backups'))).toEqual([])
  })

  test('a caller that waits for a running backup gets its failure', async () => {
    const folder = join(temporaryDir(), 'copies')
    await using app = await testApp({ BACKUP_DIR: folder })
    writeFileSync(folder, '')
    const outcomes = await Promise.allSettled([backUp(app.deps), backUp(app.deps)])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })

  test('an emptied sealed target, as of an unmounted disk, gets a new key that opens its backups', async () => {
    const folder = join(temporaryDir(), 'copies')
    const settings = { BACKUP_DIR: folder, BACKUP_PASSPHRASE: passphrase }
    await using app = await testApp(settings)
    await backUp(app.deps)
    rmSync(folder, { recursive: true })
    app.clock.advance(hour)
    await backUp(app.deps)
    await using fresh = await testApp(settings)
    const [firstPlace] = fresh.deps.backupPlaces
    const target = await openedTarget(fresh.deps, firstPlace as BackupPlace)
    expect((await findBackup(target, 'latest', app.clock.now())).manifest.at).toBe(app.clock.now())
  })

  test('the key file of a sealed target is restored and reported if it was altered or removed', async () => {
    const folder = join(temporaryDir(), 'copies')
    const settings = { BACKUP_DIR: folder, BACKUP_PASSPHRASE: passphrase }
    await using app = await testApp(settings)
    await backUp(app.deps)
    const [name = ''] = readdirSync(join(folder, 'keys'))
    const file = join(folder, 'keys', name)
    const originalText = readFileSync(file, 'utf8')
    for (const damage of [() => writeFileSync(file, originalText.replace('"sealed": "', '"sealed": "A')), () => rmSync(file)]) {
      damage()
      app.clock.advance(hour)
      await backUp(app.deps)
      expect([readdirSync(join(folder, 'keys')), readFileSync(file, 'utf8')]).toEqual([[name], originalText])
    }
    expect(eventsOf(app, 'backup.key_mended').length).toBe(2)
    await using fresh = await testApp(settings)
    const [firstPlace] = fresh.deps.backupPlaces
    const { backups, unreadable } = await listBackups(await openedTarget(fresh.deps, firstPlace as BackupPlace))
    expect([backups.length, unreadable, eventsOf(fresh, 'backup.new_key')]).toEqual([3, [], []])
  })

  test('a start that cannot open a sealed target reports it and makes backups of its own', async () => {
    const folder = join(temporaryDir(), 'copies')
    await using app = await testApp({ BACKUP_DIR: folder, BACKUP_PASSPHRASE: passphrase })
    await backUp(app.deps)
    await using other = await testApp({ BACKUP_DIR: folder, BACKUP_PASSPHRASE: `another ${passphrase}` })
    other.clock.advance(hour)
    await backUp(other.deps)
    expect(eventsOf(other, 'backup.new_key').length).toBe(1)
    expect(readdirSync(join(folder, 'keys')).length).toBe(2)
  })

  test('a first passphrase is not reported next to unsealed backups, but is next to sealed ones without a key', async () => {
    const folder = join(temporaryDir(), 'copies')
    await using app = await testApp({ BACKUP_DIR: folder })
    await backUp(app.deps)
    const settings = { BACKUP_DIR: folder, BACKUP_PASSPHRASE: passphrase }
    const startLater = (hours: number) => testApp(settings, { startAt: app.clock.now() + hours * hour })
    await using sealed = await startLater(1)
    await backUp(sealed.deps)
    expect([eventsOf(sealed, 'backup.new_key').length, readdirSync(join(folder, 'keys')).length]).toEqual([0, 1])
    rmSync(join(folder, 'keys'), { recursive: true })
    await using withoutKeys = await startLater(2)
    await backUp(withoutKeys.deps)
    expect(eventsOf(withoutKeys, 'backup.new_key').length).toBe(1)
  })

  test('a backup without its manifest is reported, not skipped', async () => {
    const folder = join(temporaryDir(), 'copies')
    await using app = await testApp({ BACKUP_DIR: folder })
    await backUp(app.deps)
    app.clock.advance(hour)
    await backUp(app.deps)
    const [older = '', newer = ''] = namesIn(folder)
    rmSync(join(folder, newer, 'manifest.json'))
    const [firstPlace] = app.deps.backupPlaces
    const target = await openedTarget(app.deps, firstPlace as BackupPlace)
    const found = await findBackup(target, 'latest', app.clock.now())
    expect([found.manifest.name, found.passedOver, (await listBackups(target)).unrecorded]).toEqual([older, [newer], [newer]])
    rmSync(join(folder, older, 'manifest.json'))
    await expect(findBackup(target, 'latest', app.clock.now())).rejects.toThrow(`${newer} has no manifest.json`)
  })

  test('the first backup is made within the hour, and is late until there is one', async () => {
    const folder = join(temporaryDir(), 'copies')
    await using app = await testApp({ BACKUP_DIR: folder, BACKUP_LATE_HOURS: '30' })
    const readState = async () => {
      const ready = await app.call('GET', '/health/ready')
      const isRecent = ready.body.checks.find(({ name }: { name: string }) => name === 'backupRecent').ok
      return [ready.status, isRecent, await metricOf(app, 'souk_backup_late')]
    }
    expect(await watchBackups(app.deps)).toEqual({ isLate: false })
    expect(namesIn(folder).length).toBe(1)
    app.clock.advance(29 * hour)
    expect(await watchBackups(app.deps)).toEqual({ isLate: false })
    expect([namesIn(folder).length, await readState()]).toEqual([1, [200, true, '0']])
    // As if the job hung or was off.
    app.clock.advance(2 * hour)
    expect(await readState()).toEqual([200, false, '1'])
    app.clock.set(app.clock.now() - 2 * hour)
    // The folder is gone, and a file has its name.
    rmSync(folder, { recursive: true })
    writeFileSync(folder, '')
    app.clock.advance(2 * hour)
    await expect(watchBackups(app.deps)).rejects.toThrow()
    expect([eventsOf(app, 'backup.late').length, await readState()]).toEqual([1, [200, false, '1']])
    rmSync(folder)
    await watchBackups(app.deps)
    app.clock.advance(2_000)
    expect([namesIn(folder).length, await readState()]).toEqual([1, [200, true, '0']])
  })

  test('one backup runs at a time, and none if backups are disabled', async () => {
    const folder = join(temporaryDir(), 'copies')
    await using app = await testApp({ BACKUP_DIR: folder })
    expect(await Promise.all([backUp(app.deps), backUp(app.deps)])).toEqual([{ made: 1 }, { made: 0 }])
    await using off = await testApp({ BACKUP_DIR: folder, BACKUP_ENABLED: 'false' })
    expect([await backUp(off.deps), await watchBackups(off.deps)]).toEqual([{ made: 0 }, { isLate: false }])
    expect(namesIn(folder).length).toBe(1)
  })

  test('a backup leaves free space on the data disk: it removes older backups but never the last, and then makes none', async () => {
    let free = Number.POSITIVE_INFINITY
    await using app = await testApp({ DISK_FREE_MIN_MB: '1' }, { diskFree: () => free })
    const folder = join(app.deps.config.dataDir, 'backups')
    for (let nth = 0; nth < 3; nth++) {
      app.clock.advance(day)
      await backUp(app.deps)
    }
    const before = namesIn(folder)
    free = 0
    app.clock.advance(day)
    await expect(backUp(app.deps)).rejects.toThrow('No new backup')
    expect(namesIn(folder)).toEqual(before.slice(-1))
    expect(eventsOf(app, 'backup.thinned').length).toBe(2)
  })

  test('a full target keeps earlier backups and has no incomplete one', async () => {
    const disk = temporaryDir()
    const { exitCode } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'mode=700,size=6m', 'tmpfs', disk], {
      stdout: 'ignore',
      stderr: 'ignore',
    })
    if (exitCode !== 0) return void process.stdout.write('skipped: a full disk cannot be tried, because this process may not mount one\n')
    mounted.push(disk)
    await using app = await testApp({ BACKUP_DIR: disk })
    await backUp(app.deps)
    const before = namesIn(disk)
    // The check finds space, but another program fills the disk during the copy.
    const { bytes = 0 } = app.deps.db.file?.sizes() ?? {}
    const { bavail, bsize } = statfsSync(disk)
    writeFileSync(join(disk, 'ballast'), Buffer.alloc(Math.max(0, bavail * bsize - bytes / 2)))
    app.clock.advance(hour)
    const full = {
      ...app.deps,
      backupPlaces: app.deps.backupPlaces.map((firstPlace) => ({
        ...firstPlace,
        store: { ...firstPlace.store, free: async () => undefined },
      })),
    }
    await expect(backUp(full)).rejects.toThrow('No new backup')
    expect(String(eventsOf(app, 'backup.failed')[0]?.fields['error'])).toContain('disk is full')
    expect(namesIn(disk).filter((name) => existsSync(join(disk, name, 'manifest.json')))).toEqual(before)
    rmSync(join(disk, 'ballast'))
    app.clock.advance(hour)
    expect(await backUp(app.deps)).toEqual({ made: 1 })
  })

  test('a damaged page is found early and reported, and no backup is made of it', async () => {
    const folder = join(temporaryDir(), 'copies')
    await using app = await testApp({ BACKUP_DIR: folder })
    expect(await quickCheck(app.deps)).toEqual({ problems: 0 })
    expect(await metricOf(app, 'souk_database_damaged')).toBe('0')
    await app.deps.db.checkpoint()
    const file = join(app.deps.config.dataDir, 'souk.db')
    const { page, size } = await app.deps.db.read
      .rows<{ page: number; size: number }>(
        sql`select rootpage as page, (select page_size from pragma_page_size) as size from sqlite_master where name = 'products'`,
      )
      .then(([row]) => row as { page: number; size: number })
    // By another process, because closing a file releases this process's locks on it.
    Bun.spawnSync(['dd', 'if=/dev/urandom', `of=${file}`, `bs=${size}`, `seek=${page - 1}`, 'count=1', 'conv=notrunc'], {
      stderr: 'ignore',
    })
    expect((await quickCheck(app.deps)).problems).toBeGreaterThan(0)
    expect([eventsOf(app, 'database.damaged').length, await metricOf(app, 'souk_database_damaged')]).toEqual([1, '1'])
    await expect(backUp(app.deps)).rejects.toThrow()
    expect(namesIn(folder)).toEqual([])
  })
})
