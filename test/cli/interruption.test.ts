/** Tests Ctrl-C: a command prints one line with its result and the next step, and exits with status 130. */
import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from '../support/database.ts'
import { describeProcesses, pause, serve, servedOnce, souk, startCommand, withFile } from './souk.ts'

const megabytes = 192

/** Returns an instance whose database takes a while to copy. */
async function largeDatabase(): Promise<{ dataDir: string; database: string }> {
  const { dataDir, database } = await servedOnce()
  withFile(database, (file) => {
    file.run('CREATE TABLE ballast (bytes BLOB)')
    for (let nth = 0; nth < megabytes; nth++) file.run('INSERT INTO ballast VALUES (zeroblob(1048576))')
    file.run('PRAGMA wal_checkpoint(TRUNCATE)')
  })
  return { dataDir, database }
}

/** Returns an instance whose check takes a minute, because SQLite evaluates an expensive index expression. */
async function slowToCheck(): Promise<{ dataDir: string; database: string }> {
  const { dataDir, database } = await servedOnce()
  const [quick, slow] = ['n * 00000000', 'n + 10000000']
  withFile(database, (file) => {
    file.run('CREATE TABLE slow (n INTEGER)')
    file.run(`CREATE INDEX slow_to_work_out ON slow (0 * length(hex(zeroblob(${quick}))))`)
    file.run('WITH RECURSIVE nth (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM nth WHERE n < 1000) INSERT INTO slow SELECT n FROM nth')
    file.run('PRAGMA wal_checkpoint(TRUNCATE)')
  })
  const bytes = readFileSync(database)
  bytes.write(slow, bytes.indexOf(quick))
  writeFileSync(database, bytes)
  return { dataDir, database }
}

/** Returns whether a process has a file open. */
function hasOpen(pid: number, file: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((descriptor) => readlinkSync(`/proc/${pid}/fd/${descriptor}`) === file)
  } catch {
    // The process has ended or has just closed a file.
    return false
  }
}

/** Interrupts a command as soon as `hasStarted` returns true. */
async function interrupt(args: readonly string[], dataDir: string, hasStarted: (pid: number) => boolean) {
  const child = startCommand(args, dataDir)
  while (!hasStarted(child.pid) && child.exitCode === null) await pause()
  child.kill('SIGINT')
  const status = await child.exited
  return { status, stdout: await new Response(child.stdout).text(), stderr: await new Response(child.stderr).text() }
}

describeProcesses('interrupted commands', () => {
  test('an interrupted backup or restore leaves no partial files and says so', async () => {
    const { dataDir, database } = await largeDatabase()
    const target = temporaryDir()
    const copying = (dir: string) => () => readdirSync(dir).some((name) => name.endsWith('.tmp'))
    expect(await interrupt(['backup', join(target, 'copy.db')], dataDir, copying(target))).toEqual({
      status: 130,
      stdout: '',
      stderr: 'Stopped. No backup was created. Run it again\n',
    })
    expect(readdirSync(target)).toEqual([])

    expect(await interrupt(['restore', database], target, copying(target))).toEqual({
      status: 130,
      stdout: '',
      stderr: 'Stopped. Nothing was restored or changed. Run it again\n',
    })
    expect(readdirSync(target)).toEqual(['lock.db'])
    expect((await souk(['restore', database], target)).status).toBe(0)
  })

  test('the next command and the next start remove the leftovers of a killed command', async () => {
    const { dataDir } = await largeDatabase()
    const target = temporaryDir()
    const leftovers = (dir: string) => readdirSync(dir).filter((name) => name.includes('.tmp'))
    const kill = async (args: readonly string[], dir: string) => {
      const child = startCommand(args, dataDir)
      while (leftovers(dir).length === 0 && child.exitCode === null) await pause()
      child.kill('SIGKILL')
      await child.exited
      expect(leftovers(dir).length).toBeGreaterThan(0)
    }
    await kill(['backup', join(target, 'copy.db')], target)
    // Another command that writes another file in the same folder.
    const file = join(target, 'products.csv')
    expect((await souk(['export', 'products', file, '--shop', 'a-shop'], dataDir)).status).toBe(0)
    expect(readdirSync(target)).toEqual(['products.csv'])

    // Leftovers in the data directory, and those of copies that a start makes before migrations.
    await kill(['backup', join(dataDir, 'copy.db')], dataDir)
    const backups = join(dataDir, 'backups')
    mkdirSync(backups, { recursive: true })
    const ended = Bun.spawn(['true'])
    await ended.exited
    for (const ending of ['', '-journal']) writeFileSync(join(backups, `before-0001_x-1.db.${ended.pid}.tmp${ending}`), 'half a copy')
    await using server = await serve(dataDir)
    expect([leftovers(dataDir), leftovers(backups)]).toEqual([[], []])
    await server.end('SIGTERM')
  })

  test('an interrupted souk check ends at once', async () => {
    const { dataDir, database } = await slowToCheck()
    const { status, stderr } = await interrupt(['check'], dataDir, (pid) => hasOpen(pid, database))
    expect({ status, stderr }).toEqual({ status: 130, stderr: expect.stringMatching(/^Stopped[:.] .*[Rr]un it again\n$/) })
  })

  test('an interrupted key rotation says that it will continue, and the next run does', async () => {
    const { dataDir, database, keys } = await servedOnce()
    const before = readFileSync(keys, 'utf8')
    // Resealing waits while another process writes.
    using writer = new Sqlite(database)
    writer.run('BEGIN IMMEDIATE')
    expect(await interrupt(['rotate-keys'], dataDir, () => readFileSync(keys, 'utf8') !== before)).toEqual({
      status: 130,
      stdout: '',
      stderr: 'Stopped. Some secrets still use the old key, which stays in use. Run it again to resume\n',
    })
    writer.run('ROLLBACK')
    const secondRun = await souk(['rotate-keys'], dataDir)
    expect(secondRun.status).toBe(0)
    expect((await souk(['check'], dataDir)).status).toBe(0)
  })
})
