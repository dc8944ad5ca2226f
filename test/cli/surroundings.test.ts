/** Tests how the program reacts to missing disks and keys, file modes and other names of its database. */
import { expect, test } from 'bun:test'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from '../support/database.ts'
import { describeProcesses, logIn, privateKeyOf, type Server, serve, servedOnce, souk, withFile } from './souk.ts'

const everyCommand = [['serve'], ['setup', '--email', 'a@example.com'], ['rotate-keys'], ['demo']]

/** Mounts one file over another. Returns false if this process may not. */
function bind(source: string, target: string): boolean {
  return Bun.spawnSync(['mount', '--bind', source, target], { stdout: 'ignore', stderr: 'ignore' }).exitCode === 0
}

const succeeds = (make: () => void): true => {
  make()
  return true
}

/** Polls until readiness has the status. The server caches each check for a second. */
async function untilReadyIs(status: 200 | 503, server: Server): Promise<unknown> {
  for (;;) {
    const ready = await server.call('GET', '/health/ready')
    if (ready.status === status) return ready.body
    await Bun.sleep(20)
  }
}

describeProcesses('files around a running server', () => {
  test('a missing or empty database beside keys in use is refused, and no new one is created', async () => {
    const { dataDir, database, keys } = await servedOnce()
    const movedAway = join(temporaryDir(), 'souk.db')
    const content = readFileSync(keys)
    renameSync(database, movedAway)
    for (const make of [() => undefined, () => writeFileSync(database, '')]) {
      make()
      for (const args of everyCommand) {
        const { status, stdout, stderr } = await souk(args, dataDir, { stdin: 'password-of-root' })
        expect({ args, status, stdout }).toEqual({ args, status: 1, stdout: '' })
        expect(stderr.trim().split('\n').length).toBe(1)
        if (args[0] !== 'rotate-keys')
          expect(stderr).toContain(`${database} is missing or empty, but ${keys} contains the keys of a database`)
        expect(existsSync(database) ? statSync(database).size : 0).toBe(0)
      }
      expect(readFileSync(keys).equals(content)).toBe(true)
    }
    rmSync(database)
    renameSync(movedAway, database)
    await using server = await serve(dataDir)
    expect((await server.call('GET', '/health/ready')).status).toBe(200)
  })

  test('a database without known keys beside the keys of another database is refused', async () => {
    const { keys } = await servedOnce()
    const fresh = temporaryDir()
    await souk(['setup', '--email', 'a@example.com'], fresh, { stdin: 'password-of-root' })
    // The database has every table but no registered key.
    withFile(join(fresh, 'souk.db'), (file) => file.run('DELETE FROM encryption_keys'))
    writeFileSync(join(fresh, 'keys.json'), readFileSync(keys), { mode: 0o600 })
    const { status, stderr } = await souk(['serve'], fresh)
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('contains the keys of a database') })
  })

  test('an empty file without keys becomes a new database, and a backup is restored beside keys alone', async () => {
    const dataDir = temporaryDir()
    writeFileSync(join(dataDir, 'souk.db'), '')
    expect((await souk(['setup', '--email', 'a@example.com'], dataDir, { stdin: 'password-of-root' })).status).toBe(0)
    const copy = join(temporaryDir(), 'copy.db')
    expect((await souk(['backup', copy], dataDir)).status).toBe(0)
    for (const ending of ['', '-wal', '-shm']) rmSync(join(dataDir, `souk.db${ending}`), { force: true })
    expect((await souk(['restore', copy], dataDir)).status).toBe(0)
    await using server = await serve(dataDir)
    expect((await server.call('GET', '/health/ready')).status).toBe(200)
  })

  test('a key rotation keeps the record that the keys are in use', async () => {
    const { dataDir, database } = await servedOnce()
    expect((await souk(['rotate-keys'], dataDir)).status).toBe(0)
    truncateSync(database, 0)
    expect((await souk(['serve'], dataDir)).stderr).toContain('is missing or empty')
  })

  test('a world-readable key file is refused with a command that fixes it; a group-readable one is accepted', async () => {
    const { dataDir, keys } = await servedOnce()
    chmodSync(keys, 0o644)
    const { status, stderr } = await souk(['serve'], dataDir)
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(`run \`chmod 600 ${keys}\``) })
    chmodSync(keys, 0o640)
    await using server = await serve(dataDir)
    expect((await server.call('GET', '/health/live')).status).toBe(200)
  })

  test('a world-writable data directory is refused and a world-readable one reported, each with a command', async () => {
    const { dataDir, database } = await servedOnce()
    chmodSync(dataDir, 0o777)
    const { status, stderr } = await souk(['serve'], dataDir)
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(`run \`chmod 700 ${dataDir}\``) })
    chmodSync(dataDir, 0o755)
    chmodSync(database, 0o644)
    await using server = await serve(dataDir)
    await server.log.until(new RegExp(`"data.open_to_all".*chmod 700 ${dataDir}`))
    await server.log.until(new RegExp(`"data.open_to_all".*chmod 600 ${database}`))
  })

  test('a running server reports that its keys vanished and continues with those in memory', async () => {
    const { dataDir, keys, privateKey } = await servedOnce()
    await using server = await serve(dataDir)
    const token = await logIn(server)
    renameSync(keys, `${keys}.away`)
    expect(await untilReadyIs(503, server)).toMatchObject({ message: 'Not ready: keysAtHand' })
    await server.log.until(/"keys.missing"/)
    expect(await privateKeyOf(server, token)).toBe(privateKey)
    expect(existsSync(keys)).toBe(false)
    renameSync(`${keys}.away`, keys)
    await untilReadyIs(200, server)
    await server.log.until(/"keys.found"/)
  })

  test('a running server reports that its database file was removed or replaced, until it is back', async () => {
    const { dataDir, database } = await servedOnce()
    await using server = await serve(dataDir)
    renameSync(database, `${database}.away`)
    expect(await untilReadyIs(503, server)).toMatchObject({ message: 'Not ready: databaseInPlace' })
    await server.log.until(/"database.gone"/)
    renameSync(`${database}.away`, database)
    await untilReadyIs(200, server)
    await server.log.until(/"database.found"/)
    copyFileSync(database, `${database}.copy`)
    renameSync(`${database}.copy`, database)
    expect(await untilReadyIs(503, server)).toMatchObject({ message: 'Not ready: databaseInPlace' })
  })

  test('a running server does not load the keys of another instance', async () => {
    const { dataDir, keys, privateKey } = await servedOnce()
    await using server = await serve(dataDir)
    const token = await logIn(server)
    const secrets = JSON.parse(readFileSync(keys, 'utf8'))
    writeFileSync(keys, JSON.stringify({ ...secrets, encryption: ['of-another-instance-0123456789abcdef'] }))
    await untilReadyIs(503, server)
    await server.log.until(/"keys.missing"/)
    expect(await privateKeyOf(server, token)).toBe(privateKey)
  })

  test('a served database is refused under another name: a hard link, a symbolic link or a bind mount', async () => {
    const { dataDir, database, keys } = await servedOnce()
    await using server = await serve(dataDir)
    const names: [kind: string, make: (name: string) => boolean][] = [
      ['hard link', (name) => succeeds(() => linkSync(database, name))],
      ['symbolic link', (name) => succeeds(() => symlinkSync(database, name))],
      ['mount', (name) => succeeds(() => writeFileSync(name, '')) && bind(database, name)],
    ]
    for (const [kind, make] of names) {
      const other = temporaryDir()
      const name = join(other, 'souk.db')
      if (!make(name)) {
        process.stdout.write(`skipped: a ${kind} cannot be tried, because this process may not make one\n`)
        continue
      }
      try {
        writeFileSync(join(other, 'keys.json'), readFileSync(keys), { mode: 0o600 })
        const { status, stdout, stderr } = await souk(['serve'], other)
        expect({ kind, status, stdout }).toEqual({ kind, status: 1, stdout: '' })
        expect(stderr).toMatch(/open under another path|souk is already running on/)
        // SQLite follows a symbolic link to the same WAL, so other commands work as beside any server.
        if (kind === 'symbolic link') continue
        for (const args of [['setup', '--email', 'a@example.com', '--another'], ['rotate-keys'], ['backup', join(other, 'copy.db')]])
          expect((await souk(args, other, { stdin: 'password-of-root' })).stderr).toContain('open under another path')
      } finally {
        if (kind === 'mount') Bun.spawnSync(['umount', name])
      }
    }
    // Under its real name, other commands still work.
    expect((await souk(['check'], dataDir)).status).toBe(0)
    expect((await server.call('GET', '/health/ready')).status).toBe(200)
  })
})
