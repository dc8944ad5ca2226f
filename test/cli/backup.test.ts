import { expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from '../support/database.ts'
import {
  copiesOf,
  describeProcesses,
  logIn,
  merchantLogin,
  pause,
  privateKeyOf,
  serve,
  servedOnce,
  signUp,
  souk,
  withFile,
} from './souk.ts'

const passphrase = 'a passphrase of many words'
const shopTitle = (file: string) =>
  withFile(file, (connection) => connection.query<{ title: string }, []>('SELECT title FROM shops').get()?.title)

/** Returns a stopped instance and a backup of it. */
async function createBackup({ withKeys = false } = {}) {
  const instance = await servedOnce()
  const flags = withKeys ? ['--with-keys'] : []
  const copies = backups.get(withKeys) ?? createFirstBackup(instance.dataDir, flags)
  backups.set(withKeys, copies)
  return { ...instance, file: join((await copies)(), 'shop.db') }
}
const backups = new Map<boolean, Promise<() => string>>()

async function createFirstBackup(dataDir: string, flags: string[]) {
  const folder = temporaryDir()
  const backup = await souk(['backup', join(folder, 'shop.db'), ...flags], dataDir, { stdin: `${passphrase}\n` })
  expect(backup).toMatchObject({ status: 0, stderr: '' })
  return copiesOf(folder)
}

describeProcesses('souk backup and restore', () => {
  test('a backup beside a server under writes is an acknowledged state and restores completely with its keys', async () => {
    const dataDir = temporaryDir()
    await using server = await serve(dataDir)
    const { token, privateKey } = await signUp(server)
    let acknowledged = 0
    let writing = true
    const writes = (async () => {
      for (let title = 1; writing; title++) {
        const { status } = await server.call('PATCH', '/shops/v2', { token, body: { title: String(title) } })
        expect(status).toBe(200)
        acknowledged = title
      }
    })()
    while (acknowledged < 20) await pause()
    const before = acknowledged
    const file = join(temporaryDir(), 'shop.db')
    const backup = await souk(['backup', file, '--with-keys'], dataDir, { stdin: passphrase })
    const after = acknowledged
    writing = false
    await writes
    expect(backup).toMatchObject({ status: 0, stderr: '' })
    expect(backup.stdout).toContain(`Keys written to ${file}.keys, encrypted with the passphrase.`)
    expect(after).toBeGreaterThan(before)

    const newDir = join(temporaryDir(), 'new')
    const restored = await souk(['restore', file, '--keys', `${file}.keys`, '--data-dir', newDir], temporaryDir(), { stdin: passphrase })
    expect(restored).toMatchObject({ status: 0, stderr: '' })
    const title = Number(shopTitle(join(newDir, 'souk.db')))
    expect(title).toBeGreaterThanOrEqual(before)
    expect(title).toBeLessThanOrEqual(after + 1)
    expect(await souk(['check'], newDir)).toMatchObject({ status: 0, stderr: '' })
    await using other = await serve(newDir)
    expect(await privateKeyOf(other, await logIn(other))).toBe(privateKey)
  })

  test('a backup file is readable only by its owner, contains no keys, and the output says so', async () => {
    const { dataDir, file } = await createBackup()
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(join(file, '..'))).toEqual(['shop.db'])
    const { encryption, jwt } = JSON.parse(readFileSync(join(dataDir, 'keys.json'), 'utf8'))
    const bytes = readFileSync(file, 'latin1')
    for (const secret of [...encryption, ...jwt]) expect(bytes).not.toContain(secret)
    const secondBackup = await souk(['backup', file, '--force'], dataDir)
    expect(secondBackup.stdout).toContain("The backup doesn't include the keys")
  })

  test('when the key file is missing, the backup reports that', async () => {
    const { dataDir, keys } = await servedOnce()
    rmSync(keys)
    const target = join(temporaryDir(), 'copy.db')
    const { status, stdout } = await souk(['backup', target], dataDir)
    expect(status).toBe(0)
    expect(stdout).toEndWith(`read without them: ${keys} is missing: restore it from your copy of the keys.\n`)
  })

  test('sealed keys contain no key in clear text and open only with their passphrase', async () => {
    const { dataDir, file } = await createBackup({ withKeys: true })
    const sealed = readFileSync(`${file}.keys`, 'utf8')
    expect(statSync(`${file}.keys`).mode & 0o777).toBe(0o600)
    const { encryption, jwt, integrationApiKey } = JSON.parse(readFileSync(join(dataDir, 'keys.json'), 'utf8'))
    for (const secret of [...encryption, ...jwt, integrationApiKey, passphrase]) expect(sealed).not.toContain(secret)
    const newDir = temporaryDir()
    const wrongPassphrase = await souk(['restore', file, '--keys', `${file}.keys`], newDir, { stdin: 'another passphrase' })
    expect(wrongPassphrase).toEqual({
      status: 1,
      stdout: '',
      stderr: 'Wrong passphrase, or the file was changed. Nothing was restored\n',
    })
    expect(existsSync(join(newDir, 'souk.db'))).toBe(false)
    expect(existsSync(join(newDir, 'keys.json'))).toBe(false)
  })

  test('a backup replaces an existing file only with --force, and never a file of the instance', async () => {
    const { dataDir, file, database } = await createBackup()
    const before = readFileSync(file)
    expect(await souk(['backup', file], dataDir)).toEqual({
      status: 1,
      stdout: '',
      stderr: `${file} already exists. Choose another name, or use --force\n`,
    })
    expect(readFileSync(file).equals(before)).toBe(true)
    for (const live of [database, join(dataDir, 'keys.json'), join(dataDir, 'lock.db')]) {
      const content = readFileSync(live)
      expect(await souk(['backup', live, '--force'], dataDir)).toEqual({
        status: 1,
        stdout: '',
        stderr: `${live} belongs to the running instance. Choose another name\n`,
      })
      expect(readFileSync(live).equals(content)).toBe(true)
    }
  })

  test('a backup refuses a name that the instance may use later, even if the file does not exist', async () => {
    const { dataDir } = await createBackup()
    for (const name of ['souk.db-journal', 'rotation.db']) {
      const refused = await souk(['backup', join(dataDir, name), '--force'], dataDir)
      expect(refused).toMatchObject({ status: 1, stdout: '' })
      expect(refused.stderr).toContain('belongs to the running instance. Choose another name')
      expect(existsSync(join(dataDir, name))).toBe(false)
    }
  })

  test('a backup that cannot be renamed into place leaves no copy', async () => {
    const { dataDir } = await createBackup()
    const folder = temporaryDir()
    mkdirSync(join(folder, 'shop.db'))
    expect(await souk(['backup', join(folder, 'shop.db'), '--force'], dataDir)).toMatchObject({ status: 1, stdout: '' })
    expect(readdirSync(folder)).toEqual(['shop.db'])
  })

  test('a damaged database is not backed up', async () => {
    const { dataDir, file, database } = await createBackup()
    const bytes = readFileSync(database)
    bytes.fill(0xff, 4096 * 20, 4096 * 60)
    writeFileSync(database, bytes)
    const before = readFileSync(file)
    const { status, stdout } = await souk(['backup', file, '--force'], dataDir)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(readFileSync(file).equals(before)).toBe(true)
    expect(readdirSync(join(file, '..'))).toEqual(['shop.db'])
    expect(await souk(['check'], dataDir)).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('FAIL  database file') })
  })

  test('a backup removes the unfinished copy of a process that is gone', async () => {
    const { dataDir, file } = await createBackup()
    const endedPid = Bun.spawnSync(['true']).pid
    writeFileSync(`${file}.${endedPid}.tmp`, 'half a copy')
    writeFileSync(`${file}.${process.pid}.tmp`, 'a copy under way')
    expect((await souk(['backup', file, '--force'], dataDir)).status).toBe(0)
    expect(readdirSync(join(file, '..')).sort()).toEqual(['shop.db', `shop.db.${process.pid}.tmp`])
  })

  test('a restore ignores what a stale WAL contains from after the backup', async () => {
    const { dataDir, file, database } = await createBackup()
    await using server = await serve(dataDir)
    const token = await logIn(server)
    expect((await server.call('PATCH', '/shops/v2', { token, body: { title: 'after the backup' } })).status).toBe(200)
    await server.end('SIGKILL')
    expect(statSync(`${database}-wal`).size).toBeGreaterThan(0)
    const log = join(temporaryDir(), 'log')
    copyFileSync(`${database}-wal`, log)

    const restored = await souk(['restore', file, '--force'], dataDir)
    expect(restored).toMatchObject({ status: 0, stderr: '' })
    expect(existsSync(`${database}-wal`)).toBe(false)
    expect(existsSync(`${database}-shm`)).toBe(false)
    expect(shopTitle(database)).toBe('a-shop')

    rmSync(database)
    copyFileSync(log, `${database}-wal`)
    expect((await souk(['restore', file], dataDir)).status).toBe(0)
    expect(shopTitle(database)).toBe('a-shop')
  })

  test('a restore keeps the replaced database with the content of its WAL', async () => {
    const { dataDir, file } = await createBackup()
    await using server = await serve(dataDir)
    await server.call('PATCH', '/shops/v2', { token: await logIn(server), body: { title: 'worth keeping' } })
    await server.end('SIGKILL')
    const refused = await souk(['restore', file], dataDir)
    expect(refused).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('Use --force to replace it') })
    expect((await souk(['restore', file, '--force'], dataDir)).status).toBe(0)
    const [keptFile, ...more] = readdirSync(join(dataDir, 'backups'))
    expect(more).toEqual([])
    expect(shopTitle(join(dataDir, 'backups', keptFile ?? ''))).toBe('worth keeping')
  })

  test('a restore replaces a damaged database and keeps it as it is', async () => {
    const { dataDir, file, database } = await createBackup()
    writeFileSync(database, 'no database at all, but somebody may want it')
    expect((await souk(['restore', file, '--force'], dataDir)).status).toBe(0)
    const keptFile = readdirSync(join(dataDir, 'backups')).find((name) => name.endsWith('.db')) ?? ''
    expect(readFileSync(join(dataDir, 'backups', keptFile), 'utf8')).toBe('no database at all, but somebody may want it')
    expect(shopTitle(database)).toBe('a-shop')
  })

  test('restore is refused while a server runs or another command has the database open', async () => {
    const { dataDir, file, database } = await createBackup()
    {
      await using server = await serve(dataDir)
      expect(await souk(['restore', file, '--force'], dataDir)).toEqual({
        status: 1,
        stdout: '',
        stderr: `souk is running on ${dataDir}. Stop it first\n`,
      })
      expect((await server.call('GET', '/health/ready')).status).toBe(200)
      await server.end('SIGTERM')
    }
    // Closes the database explicitly, because garbage collection would close it at any time.
    const command = Bun.spawn(
      [
        process.execPath,
        '-e',
        `const d = new (require('bun:sqlite').Database)(${JSON.stringify(database)}); d.run('PRAGMA journal_mode = WAL'); d.query('SELECT count(*) FROM users').get(); console.log('open'); await Bun.stdin.text(); d.close()`,
      ],
      { stdin: 'pipe', stdout: 'pipe' },
    )
    await command.stdout.getReader().read()
    const whileOpen = await souk(['restore', file, '--force'], dataDir)
    expect(whileOpen).toEqual({
      status: 1,
      stdout: '',
      stderr: 'Another souk command is using the database. Wait for it to finish, then try again\n',
    })
    command.stdin.end()
    await command.exited
    expect(readdirSync(dataDir).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  test.each(['another program', 'damaged', 'cut off', 'no database', 'missing'])('a file that is %s is not restored', async (what) => {
    const { dataDir, file, database } = await createBackup()
    const bytes = readFileSync(file)
    if (what === 'another program') withFile(`${file}.new`, (connection) => connection.run('CREATE TABLE of_another (a)'))
    if (what === 'damaged') writeFileSync(`${file}.new`, bytes.fill(0xff, 4096 * 20, 4096 * 60))
    if (what === 'cut off') writeFileSync(`${file}.new`, bytes.subarray(0, -4096))
    if (what === 'no database') writeFileSync(`${file}.new`, 'x'.repeat(5_000))
    rmSync(file)
    if (what !== 'missing') renameSync(`${file}.new`, file)
    const before = readFileSync(database)
    const { status, stderr } = await souk(['restore', file, '--force'], dataDir)
    expect(status).toBe(1)
    expect(stderr).toMatch(/of another program|damaged|not a database|not found/)
    expect(stderr).not.toContain('    at ')
    expect(readFileSync(database).equals(before)).toBe(true)
  })

  test('restore reports when the keys of the backup are missing', async () => {
    const { file } = await createBackup()
    const newDir = temporaryDir()
    const { status, stderr } = await souk(['restore', file], newDir)
    expect(status).toBe(0)
    expect(stderr).toMatch(
      /^The secrets need encryption key [0-9a-f]{8}, which is missing: before you start souk, copy the keys\.json of that time/,
    )
    expect(existsSync(join(newDir, 'keys.json'))).toBe(false)
  })

  test('restored keys replace other keys, which are kept', async () => {
    const { file, privateKey } = await createBackup({ withKeys: true })
    const newDir = temporaryDir()
    await souk(['setup', '--email', 'a@example.com'], newDir, { stdin: 'password-of-root' })
    const others = readFileSync(join(newDir, 'keys.json'), 'utf8')
    expect((await souk(['restore', file, '--force', '--keys', `${file}.keys`], newDir, { stdin: passphrase })).status).toBe(0)
    const keptFile = readdirSync(join(newDir, 'backups')).find((name) => name.endsWith('.keys.json')) ?? ''
    expect(readFileSync(join(newDir, 'backups', keptFile), 'utf8')).toBe(others)
    await using server = await serve(newDir)
    expect(await privateKeyOf(server, await logIn(server, merchantLogin))).toBe(privateKey)
  })

  test('a short passphrase is refused before anything is copied', async () => {
    const { dataDir } = await createBackup()
    const file = join(temporaryDir(), 'shop.db')
    const refused = await souk(['backup', file, '--with-keys'], dataDir, { stdin: 'elevenchars\n' })
    expect(refused).toEqual({ status: 2, stdout: '', stderr: 'The passphrase must have 12 to 1000 characters\n' })
    expect(existsSync(file)).toBe(false)
  })

  test('on PostgreSQL, backup and restore refer to the tools of PostgreSQL', async () => {
    const settings = {
      DATABASE_URL: 'postgres://souk:hunter2@127.0.0.1:1/none',
      JWT_SECRET: 'j'.repeat(32),
      ENCRYPTION_KEY: 'e'.repeat(32),
      INTEGRATION_API_KEY: 'i'.repeat(16),
    }
    for (const [command, tool] of [
      ['backup', 'pg_dump'],
      ['restore', 'pg_restore'],
    ] as const) {
      const { status, stderr } = await souk([command, 'x.db'], temporaryDir(), { settings })
      expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(tool) })
      expect(stderr).not.toContain('hunter2')
    }
  })
})
