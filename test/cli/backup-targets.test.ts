/** Tests backups at the configured target: creating, listing and restoring them, also on another machine. */
import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { backUp } from '../../src/modules/operations/backup/index.ts'
import { startS3 } from '../clients/documents/s3-server.ts'
import { testApp } from '../support/app.ts'
import { temporaryDir } from '../support/database.ts'
import { borrower, documentPath, lendingOn, pdf } from '../support/lending-documents.ts'
import { describeProcesses, logIn, pause, privateKeyOf, serve, servedOnce, souk, startCommand, withFile } from './souk.ts'

const passphrase = 'twelve words that nobody guesses'
const backupsIn = (folder: string) =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => /^\d{8}T\d{9}Z$/.test(name))
        .sort()
    : []
const completeBackupsIn = (folder: string) => backupsIn(folder).filter((name) => existsSync(join(folder, name, 'manifest.json')))
const leftovers = (dir: string) => readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.tmp'))

/** Creates an instance and a backup of it in a folder. The instance is stopped. */
async function createBackup(settings: Record<string, string> = {}) {
  const instance = await servedOnce()
  const folder = join(temporaryDir(), 'copies')
  const backupSettings = { BACKUP_DIR: folder, ...settings }
  const backup = await souk(['backup'], instance.dataDir, { settings: backupSettings })
  expect(backup).toMatchObject({ status: 0, stderr: '' })
  return { ...instance, folder, settings: backupSettings, backup, name: backupsIn(folder)[0] ?? '' }
}

describeProcesses('backups at the configured target', () => {
  test('after the loss of the machine, the bucket and the passphrase restore the shop with keys and documents', async () => {
    await using server = startS3()
    const bucket = Object.fromEntries(Object.entries(server.settings).map(([name, value]) => [name.replace('DOCUMENTS', 'BACKUP'), value]))
    const settings = { ...bucket, BACKUP_PASSPHRASE: passphrase, ...lendingOn, ACCESS_TOKEN_SECONDS: '86400' } as Record<string, string>
    const reads = ['/shops/v2', '/shops/v2/private-key', '/v2/products', '/merchant/me']
    const letter = pdf(150_000)
    const { token, id, before } = await (async () => {
      await using app = await testApp(settings, { startAt: Date.now() })
      const { merchant, id: application } = await borrower(app)
      const body = { title: 'Kept', handle: 'kept', variants: [{ price: { amount: 1_000, currency: 'USD' } }] }
      await app.call('POST', '/v2/products', { token: merchant.token, body })
      const headers = { 'content-type': 'application/pdf' }
      const put = await app.call('PUT', documentPath(application, 'ein_letter'), { token: merchant.token, raw: letter, headers })
      expect(put.status).toBe(200)
      const answers = await Promise.all(reads.map((path) => app.call('GET', path, { token: merchant.token })))
      await backUp(app.deps)
      // Writes after the backup are lost with the machine.
      await app.merchant()
      return { token: merchant.token, id: application, before: answers.map(({ status, text }) => [status, text]) }
    })()
    const newDir = join(temporaryDir(), 'new')
    const restored = await souk(['restore', 'latest', '--check', '--data-dir', newDir], temporaryDir(), { settings })
    expect(restored).toMatchObject({ status: 0, stderr: '' })
    expect(restored.stdout).toContain('ok    documents\n')
    expect([statSync(join(newDir, 'keys.json')).mode & 0o777, leftovers(newDir)]).toEqual([0o600, []])
    await using shop = await serve(newDir, settings)
    const headers = { authorization: `Bearer ${token}` }
    const after = await Promise.all(
      reads.map(async (path) => {
        const answer = await fetch(`${shop.url}${path}`, { headers })
        return [answer.status, await answer.text()]
      }),
    )
    expect(after).toEqual(before)
    const document = await fetch(`${shop.url}${documentPath(id, 'ein_letter')}`, { headers })
    expect(Buffer.from(await document.arrayBuffer()).equals(letter)).toBe(true)
  })

  test('souk backup without FILE uses the configured target, beside a running server, and --list shows it', async () => {
    const { dataDir, folder, settings, backup, name } = await createBackup()
    expect(backup.stdout).toStartWith(`Backup ${name} created in ${folder} (`)
    expect(backup.stdout).toContain("The backup doesn't include the keys")
    await using server = await serve(dataDir)
    const second = await souk(['backup'], dataDir, { settings })
    expect([second.status, backupsIn(folder).length, leftovers(dataDir)]).toEqual([0, 2, []])
    const listed = await souk(['backup', '--list'], dataDir, { settings })
    expect(listed).toMatchObject({ status: 0, stderr: '' })
    expect(listed.stdout).toMatch(
      new RegExp(String.raw`^${folder}:(?:\n  \d{8}T\d{9}Z  20.*  \d.* [KM]B  0 files  instance [0-9a-f]{8}){2}\n$`),
    )
    expect(server.pid).toBeGreaterThan(0)
  })

  test('souk backup refuses the flags of a backup file when no file is given', async () => {
    const { dataDir } = await servedOnce()
    for (const args of [['--force'], ['--with-keys'], ['--list', '--force'], ['--list', 'file.db']])
      expect(await souk(['backup', ...args], dataDir)).toMatchObject({ status: 2, stdout: '' })
  })

  test('a restore by name keeps the old database, needs --force and a stopped server, and ignores a stale WAL', async () => {
    const { dataDir, database, settings, name, privateKey } = await createBackup()
    withFile(database, (file) => void file.run("UPDATE shops SET title = 'after the backup'"))
    const refused = await souk(['restore', name], dataDir, { settings })
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('Use --force to replace it')])
    const server = await serve(dataDir)
    expect((await souk(['restore', name, '--force'], dataDir, { settings })).stderr).toContain('Stop it first')
    await server.end('SIGKILL')
    expect(existsSync(`${database}-wal`)).toBe(true)
    expect(await souk(['restore', name, '--force', '--check'], dataDir, { settings })).toMatchObject({ status: 0, stderr: '' })
    expect(withFile(database, (file) => file.query<{ title: string }, []>('SELECT title FROM shops').get()?.title)).toBe('a-shop')
    expect(readdirSync(join(dataDir, 'backups')).filter((file) => /^before-restore-\d+\.db$/.test(file)).length).toBe(1)
    await using restarted = await serve(dataDir)
    expect(await privateKeyOf(restarted, await logIn(restarted))).toBe(privateKey)
  })

  test('restoring a backup that is altered, truncated or incomplete is refused and changes nothing', async () => {
    const { dataDir, folder, settings, name, database } = await createBackup()
    const file = join(folder, name, 'souk.db')
    const [original, manifest, databaseBefore] = [
      readFileSync(file),
      readFileSync(join(folder, name, 'manifest.json'), 'utf8'),
      readFileSync(database),
    ]
    const altered = Buffer.from(original)
    altered[altered.length - 5_000] = (altered[altered.length - 5_000] ?? 0) ^ 1
    const wrongManifest = manifest.replace(/"shops": 1/, '"shops": 2')
    expect(wrongManifest).not.toBe(manifest)
    const damages: [() => void, string][] = [
      [() => writeFileSync(file, altered), 'was changed or damaged'],
      [() => truncateSync(file, original.length - 4_096), 'was changed or damaged'],
      [() => rmSync(file), 'is missing in'],
      [() => writeFileSync(join(folder, name, 'manifest.json'), wrongManifest), 'shops: 1 rows instead of 2'],
      [
        () => writeFileSync(join(folder, name, 'manifest.json'), '{"format":"something else"}'),
        'is damaged, or was written by a newer version',
      ],
      [() => rmSync(join(folder, name, 'manifest.json')), 'Backup'],
    ]
    for (const [damage, message] of damages) {
      writeFileSync(file, original)
      writeFileSync(join(folder, name, 'manifest.json'), manifest)
      damage()
      const { status, stderr } = await souk(['restore', name, '--force'], dataDir, { settings })
      expect([message, status, stderr]).toEqual([message, 1, expect.stringContaining(message)])
      expect([readFileSync(database).equals(databaseBefore), leftovers(dataDir)]).toEqual([true, []])
    }
  })

  test('a sealed backup opens only with its passphrase, which is asked for if not set; plain ones stay readable', async () => {
    const { dataDir, folder, settings, name } = await createBackup()
    const sealing = { ...settings, BACKUP_PASSPHRASE: passphrase }
    expect((await souk(['backup'], dataDir, { settings: sealing })).stdout).toContain('includes the keys')
    const [, sealed = ''] = backupsIn(folder)
    const newDirFlags = () => ['--data-dir', join(temporaryDir(), 'new')]
    const wrongPassphrase = { ...settings, BACKUP_PASSPHRASE: 'another passphrase' }
    const refused = await souk(['restore', sealed, ...newDirFlags()], dataDir, { settings: wrongPassphrase })
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('Wrong passphrase')])
    const afterPrompt = await souk(['restore', sealed, '--check', ...newDirFlags()], dataDir, { settings, stdin: `${passphrase}\n` })
    expect(afterPrompt).toMatchObject({ status: 0 })
    const plain = await souk(['restore', name, ...newDirFlags()], dataDir, { settings: sealing })
    expect([plain.status, plain.stdout]).toEqual([0, expect.stringContaining(`Backup ${name} of`)])
    const keys = join(folder, sealed, 'keys.json')
    const altered = readFileSync(keys)
    altered[100] = (altered[100] ?? 0) ^ 1
    writeFileSync(keys, altered)
    const fresh = join(temporaryDir(), 'new')
    const damagedKeys = await souk(['restore', sealed, '--data-dir', fresh], dataDir, { settings: sealing })
    expect([damagedKeys.status, damagedKeys.stderr]).toEqual([1, expect.stringContaining(`The keys of backup ${sealed}`)])
    expect([leftovers(fresh), existsSync(join(fresh, 'souk.db'))]).toEqual([[], false])
    // An instance that has its keys does not need the keys of the backup.
    expect((await souk(['restore', sealed, '--force'], dataDir, { settings: sealing })).status).toBe(0)
  })

  test('souk restore explains when its argument is no backup, and refuses flags of --to without it', async () => {
    const { dataDir, folder, settings, name } = await createBackup()
    const sealed = join(temporaryDir(), 'part')
    writeFileSync(sealed, 'SOUKBAK1 and so on')
    for (const [args, status, message] of [
      [[folder], 1, 'is a directory, not a file'],
      [[join(folder, name)], 1, 'is a directory, not a file'],
      [[sealed], 1, 'is an encrypted part of a backup'],
      [['latest', '--instance', '0a1b2c3d'], 2, '--instance needs --to'],
      [[name, '--until-damage'], 2, '--until-damage needs --to'],
    ] as const) {
      const outcome = await souk(['restore', ...args, '--force'], dataDir, { settings })
      expect([args, outcome.status, outcome.stderr]).toEqual([args, status, expect.stringContaining(message)])
    }
  })

  test('kill -9 during a backup leaves only complete backups, and the next one removes the leftovers', async () => {
    const { dataDir, database } = await servedOnce()
    withFile(database, (file) => {
      file.run('CREATE TABLE ballast (bytes)')
      file.run(
        'INSERT INTO ballast SELECT randomblob(1000000) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 24) SELECT i FROM n)',
      )
    })
    const folder = join(temporaryDir(), 'copies')
    const settings = { BACKUP_DIR: folder }
    const moments = [
      () => existsSync(join(dataDir, 'backups')) && leftovers(join(dataDir, 'backups')).length > 0,
      () => backupsIn(folder).length > completeBackupsIn(folder).length,
    ]
    for (const isReached of moments) {
      const child = startCommand(['backup'], dataDir, settings)
      while (!isReached() && child.exitCode === null) await pause()
      child.kill('SIGKILL')
      await child.exited
      for (const name of completeBackupsIn(folder))
        expect(
          (await souk(['restore', name, '--check', '--data-dir', join(temporaryDir(), 'new')], dataDir, { settings })).stdout,
        ).toContain('ok    database file')
    }
    expect((await souk(['backup'], dataDir, { settings })).status).toBe(0)
    expect([completeBackupsIn(folder).length > 0, leftovers(join(dataDir, 'backups'))]).toEqual([true, []])
  })

  test('kill -9 during a restore leaves the old or the new database, and repeating the command completes it', async () => {
    const { dataDir, database, settings, name } = await createBackup()
    withFile(database, (file) => void file.run("UPDATE shops SET title = 'before'"))
    const titleOf = () => withFile(database, (file) => file.query<{ title: string }, []>('SELECT title FROM shops').get()?.title ?? '')
    const hasKeptDatabase = () => existsSync(join(dataDir, 'backups')) && readdirSync(join(dataDir, 'backups')).length > 0
    for (const isReached of [() => leftovers(dataDir).length > 0, hasKeptDatabase]) {
      const child = startCommand(['restore', name, '--force'], dataDir, settings)
      while (!isReached() && child.exitCode === null) await pause()
      child.kill('SIGKILL')
      await child.exited
      expect(['before', 'a-shop']).toContain(titleOf())
      const checked = await souk(['check'], dataDir)
      expect(checked).toMatchObject({ status: 0, stderr: '' })
    }
    expect(await souk(['restore', name, '--force', '--check'], dataDir, { settings })).toMatchObject({ status: 0, stderr: '' })
    expect([titleOf(), leftovers(dataDir)]).toEqual(['a-shop', []])
  })
})
