import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sqliteMigrations } from '../../db/migrations/index.ts'
import { migrateSqlite } from '../../db/sqlite/migrate.ts'
import { temporaryDir } from '../support/database.ts'
import { describeProcesses, logIn, privateKeyOf, serve, servedOnce, signUp, souk, source, withFile } from './souk.ts'

const slowLogin = JSON.stringify({ email: 'nobody@example.com', password: 'whatever it may be' })

/** Sends half a request on a new connection. */
async function sendHalf(url: string) {
  const { hostname, port } = new URL(url)
  const answer = Promise.withResolvers<string>()
  let text = ''
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_socket, chunk) {
        text += chunk.toString()
        if (/\r\n\r\n.*\}$/s.test(text)) answer.resolve(text)
      },
      close: () => answer.reject(new Error(`the connection closed after: ${text}`)),
    },
  })
  const head = `POST /merchant/login HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\nContent-Length: ${slowLogin.length}\r\n\r\n`
  socket.write(head + slowLogin.slice(0, 10))
  return { sendRest: () => socket.write(slowLogin.slice(10)), answer: answer.promise }
}

describeProcesses('souk serve', () => {
  test('souk started from source serves, copies itself, and continues with the files of the compiled one', async () => {
    const dataDir = temporaryDir()
    await using first = await serve(dataDir, {}, source)
    const { privateKey } = await signUp(first)
    const copy = join(temporaryDir(), 'copy.db')
    expect(await souk(['backup', copy], dataDir, { by: source })).toMatchObject({ status: 0, stderr: '' })
    expect(await first.end('SIGTERM')).toBe(0)
    await using compiled = await serve(dataDir)
    expect(await privateKeyOf(compiled, await logIn(compiled))).toBe(privateKey)
    expect(await compiled.end('SIGTERM')).toBe(0)
    expect((await souk(['restore', copy, '--force'], dataDir, { by: source })).status).toBe(0)
    await using restarted = await serve(dataDir, {}, source)
    expect(await privateKeyOf(restarted, await logIn(restarted))).toBe(privateKey)
  })

  test('a second server on the same data directory is refused while the first keeps serving', async () => {
    const dataDir = temporaryDir()
    await using first = await serve(dataDir)
    const second = await souk(['serve'], dataDir)
    expect(second).toEqual({ status: 1, stdout: '', stderr: `souk is already running on ${dataDir}: stop it, or set another DATA_DIR\n` })
    expect((await first.call('GET', '/health/ready')).status).toBe(200)
  })

  test('a taken port ends the process with one sentence and releases the data directory', async () => {
    const dataDir = temporaryDir()
    await using first = await serve(temporaryDir())
    const { port } = new URL(first.url)
    const refused = await souk(['serve', '--port', port], dataDir, { settings: { LOG_LEVEL: 'warn' } })
    expect(refused).toEqual({ status: 1, stdout: '', stderr: `Port ${port} is taken: stop what listens there, or set another PORT\n` })
    await using restarted = await serve(dataDir)
    expect((await restarted.call('GET', '/health/ready')).status).toBe(200)
  })

  test('every command refuses a database of a newer version and does not change it', async () => {
    const { dataDir, database } = await servedOnce()
    withFile(database, (file) => file.run("INSERT INTO souk_migrations (tag, applied_at) VALUES ('9999_of_tomorrow', 1)"))
    const before = readFileSync(database)
    for (const args of [
      ['serve'],
      ['setup', '--email', 'a@example.com'],
      ['check'],
      ['rotate-keys'],
      ['restore', database, '--data-dir', temporaryDir()],
    ]) {
      const { status, stdout, stderr } = await souk(args, dataDir)
      expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('the database was written by a newer version') })
      expect(stdout.replace('ok    database file\n', '')).toBe('')
    }
    expect(readFileSync(database).equals(before)).toBe(true)
  })

  test("another program's SQLite file is refused and not changed", async () => {
    const dataDir = temporaryDir()
    const database = join(dataDir, 'souk.db')
    withFile(database, (file) => file.run('CREATE TABLE of_another (a)'))
    const before = readFileSync(database)
    const { status, stderr } = await souk(['serve'], dataDir)
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `${database}: the file is a database of another program: choose another DATA_DIR\n`,
    })
    expect(readFileSync(database).equals(before)).toBe(true)
    expect(existsSync(join(dataDir, 'keys.json'))).toBe(false)
  })

  test('an outdated database is copied into backups before it is migrated', async () => {
    const dataDir = temporaryDir()
    const database = join(dataDir, 'souk.db')
    migrateSqlite(database, sqliteMigrations.slice(0, 1), { backups: join(dataDir, 'unused'), now: 1 })
    withFile(database, (file) =>
      file.run("INSERT INTO users (id, role, email, password_hash, created_at) VALUES ('usr_1', 'SUPER_ADMIN', 'old@example.com', 'x', 1)"),
    )
    await using server = await serve(dataDir)
    expect((await server.call('GET', '/health/ready')).status).toBe(200)
    const [copy, ...more] = readdirSync(join(dataDir, 'backups'))
    expect(more).toEqual([])
    const state = withFile(join(dataDir, 'backups', copy ?? ''), (file) => ({
      tags: file.query('SELECT tag FROM souk_migrations').all(),
      users: file.query('SELECT email FROM users').all(),
    }))
    expect(state).toEqual({ tags: [{ tag: sqliteMigrations[0]?.tag }], users: [{ email: 'old@example.com' }] })
    const now = withFile(database, (file) => file.query<{ n: number }, []>('SELECT count(*) AS n FROM souk_migrations').get()?.n)
    expect(now).toBe(sqliteMigrations.length)
  })

  test('missing keys are never replaced when a database was sealed with them', async () => {
    const { dataDir, keys, privateKey } = await servedOnce()
    const content = readFileSync(keys)
    rmSync(keys)
    for (const args of [['serve'], ['rotate-keys'], ['setup', '--email', 'a@example.com']]) {
      const { status, stderr } = await souk(args, dataDir)
      expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(`${keys} is missing`) })
      expect(existsSync(keys)).toBe(false)
    }
    writeFileSync(keys, content, { mode: 0o600 })
    await using server = await serve(dataDir)
    expect(await privateKeyOf(server, await logIn(server))).toBe(privateKey)
  })

  test('a different key is refused without printing either key', async () => {
    const { dataDir, keys } = await servedOnce()
    const ownKeys = readFileSync(keys, 'utf8')
    const other = temporaryDir()
    await souk(['setup', '--email', 'a@example.com'], other, { stdin: 'password-of-root' })
    const otherKeys = readFileSync(join(other, 'keys.json'), 'utf8')
    writeFileSync(keys, otherKeys)
    const { status, stderr } = await souk(['serve'], dataDir)
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/encrypted with key [0-9a-f]{8}, which is missing: restore keys.json/),
    })
    for (const secret of [...JSON.parse(ownKeys).encryption, ...JSON.parse(otherKeys).encryption]) expect(stderr).not.toContain(secret)
    expect(readFileSync(keys, 'utf8')).toBe(otherKeys)
  })

  test('an invalid key file is refused and kept', async () => {
    const { dataDir, keys } = await servedOnce()
    writeFileSync(keys, '{"jwt": ["half a')
    const { status, stderr } = await souk(['serve'], dataDir)
    expect({ status, stderr }).toEqual({ status: 1, stderr: `${keys} is not a key file of souk: restore it from your copy of the keys\n` })
    expect(readFileSync(keys, 'utf8')).toBe('{"jwt": ["half a')
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('%s finishes the request in flight, accepts no new connections and exits 0', async (signal) => {
    const dataDir = temporaryDir()
    await using server = await serve(dataDir)
    const slow = await sendHalf(server.url)
    while (!/souk_http_requests_in_flight 2\n/.test(await (await fetch(`${server.url}/metrics`)).text()));
    process.kill(server.pid, signal)
    await server.log.until(/"server.stopping"/)
    const lateRequest = await fetch(`${server.url}/health/live`).then(
      ({ status }) => status,
      () => 'refused',
    )
    expect([200, 503, 'refused']).toContain(lateRequest)
    slow.sendRest()
    expect(await slow.answer).toStartWith('HTTP/1.1 401')
    expect(await server.exited).toBe(0)
    // The WAL was checkpointed into the database file.
    expect(statSync(join(dataDir, 'souk.db-wal'), { throwIfNoEntry: false })?.size ?? 0).toBe(0)
  })

  test('a data directory that cannot be created is reported in one sentence', async () => {
    const file = join(temporaryDir(), 'a-file')
    writeFileSync(file, '')
    const { status, stderr } = await souk(['serve', '--data-dir', join(file, 'data')], temporaryDir())
    expect(status).toBe(1)
    expect(stderr).toStartWith(`Not a directory: ${file}`)
    expect(stderr).not.toContain('    at ')
  })

  test('two commands that start together on a new data directory both succeed with one set of keys', async () => {
    const dataDir = join(temporaryDir(), 'new')
    mkdirSync(dataDir)
    const setups = await Promise.all(
      ['a', 'b'].map((name) => souk(['setup', '--email', `${name}@example.com`, '--another'], dataDir, { stdin: 'password-of-root' })),
    )
    expect(setups.map(({ status, stderr }) => ({ status, stderr }))).toEqual([0, 0].map((status) => ({ status, stderr: '' })))
    const check = await souk(['check'], dataDir)
    expect(check).toMatchObject({ status: 0, stderr: '' })
  })
})
