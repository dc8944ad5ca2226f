/** Tests restoring a database from its shipped log: to now, to a moment, and up to a damaged segment. */
import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { problemsOf } from '../../db/sqlite/copy.ts'
import { configure } from '../../db/sqlite/engine.ts'
import { buildFromLog } from '../../src/cli/restore-log.ts'
import { createFolderStore } from '../../src/clients/backups/folder.ts'
import { temporaryDir } from '../support/database.ts'
import { startChild } from '../support/process.ts'
import { describeProcesses, souk, startCommand } from './souk.ts'

const program = 'ship-until-killed.ts'

function newCounter(folder: string): string {
  const file = join(folder, 'shop.db')
  using connection = new Sqlite(file, { create: true })
  configure(connection)
  connection.run('CREATE TABLE counter (n INTEGER)')
  connection.run('INSERT INTO counter VALUES (0)')
  connection.run('CREATE TABLE blobs (id INTEGER PRIMARY KEY, x BLOB)')
  return file
}

/**
 * Runs the program until `isEnough`, then kills it. `numbers` are further arguments.
 * Returns the last count that the program acknowledged, and the last that it reported as shipped.
 */
async function countUntil(
  file: string,
  store: string,
  isEnough: (lines: number, shipped: number) => boolean,
  ...numbers: readonly number[]
) {
  await using child = startChild(program, [file, store, ...numbers.map(String)])
  let [acknowledged, shipped, lines] = [0, -1, 0]
  for await (const line of child.lines) {
    const [word, n = '0'] = line.split(' ')
    if (word === 'made') acknowledged = Number(n)
    else shipped = Number(n)
    if (isEnough(++lines, shipped)) break
  }
  child.kill()
  await child.exited
  return { acknowledged, shipped }
}

type Restored = { n: number; problems: string[]; upTo: number; notes: readonly string[] }

async function restoreFromLog(
  folder: string,
  store: string,
  { to, untilDamage = false }: { to?: number; untilDamage?: boolean } = {},
): Promise<Restored> {
  const file = join(folder, `restored-${Math.random()}.db`)
  const built = await buildFromLog({ store: createFolderStore(store, Date.now), to, file, untilDamage, instance: undefined })
  using connection = new Sqlite(file, { readonly: true })
  return { n: connection.query<{ n: number }, []>('SELECT n FROM counter').get()?.n ?? -1, problems: problemsOf(connection), ...built }
}

const shippedIn = (store: string, kind: string) =>
  readdirSync(join(store, 'wal'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.includes(`/${kind}-`) && !name.endsWith('.tmp'))
    .sort()
    .map((name) => join(store, 'wal', name))

/** Returns the number of segments after those that the last snapshot needs. */
function segmentsSince(store: string): number {
  const indexOf = (name: string | undefined, start: RegExp) => Number(start.exec(name ?? '')?.[1] ?? 0)
  const needed = indexOf(shippedIn(store, 'snapshot').at(-1), /snapshot-\d+-(\d+)/)
  return indexOf(shippedIn(store, 'segment').at(-1), /segment-(\d+)/) - needed
}

describeProcesses('Shipping the log', () => {
  test('a process killed at any moment loses nothing that was shipped, and restores nothing uncommitted', async () => {
    const folder = temporaryDir()
    const store = join(folder, 'store')
    const file = newCounter(folder)
    let shipped = -1
    // Kills during the first and later snapshots, then at random times.
    for (const [nth, lines] of [3, 60, 20, 45].entries()) {
      const isEnough = nth === 1 ? (now: number, done: number) => now > lines && done > 0 : (now: number) => now >= lines
      const run = await countUntil(file, store, isEnough)
      shipped = Math.max(shipped, run.shipped)
      if (shipped < 0) continue
      const { n, problems } = await restoreFromLog(folder, store)
      expect(n).toBeGreaterThanOrEqual(shipped)
      // The last write may be committed without an acknowledgement.
      expect(n).toBeLessThanOrEqual(run.acknowledged + 1)
      expect(problems).toEqual([])
    }
    expect(shipped).toBeGreaterThan(0)
  })

  test('a killed process that is started again continues with what it had shipped', async () => {
    const folder = temporaryDir()
    const store = join(folder, 'store')
    const file = newCounter(folder)
    const first = await countUntil(file, store, (_, shipped) => shipped > 0, 1_000_000)
    const second = await countUntil(file, store, (_, shipped) => shipped > first.acknowledged + 3, 1_000_000)
    const { n, problems } = await restoreFromLog(folder, store)
    expect([n >= second.shipped, problems]).toEqual([true, []])
    expect(readdirSync(join(store, 'wal', '00000000')).filter((name) => /^\d/.test(name)).length).toBe(1)
    expect(shippedIn(store, 'snapshot').length).toBe(1)
  })

  test('processes killed during many large writes continue and lose nothing that was shipped', async () => {
    const folder = temporaryDir()
    const store = join(folder, 'store')
    const file = newCounter(folder)
    await countUntil(file, store, (_, shipped) => shipped > 0, 70, 5_000)
    let [before, shipped] = [0, 0]
    // Each commit is long, so that the log restarts often.
    for (const lines of [150, 90, 210, 130, 170]) {
      const run = await countUntil(file, store, (now, done) => now >= lines && done > before, 70, 150_000)
      ;[before, shipped] = [run.acknowledged, run.shipped]
      const { n, problems } = await restoreFromLog(folder, store)
      expect(n).toBeGreaterThanOrEqual(shipped)
      expect(n).toBeLessThanOrEqual(run.acknowledged + 1)
      expect(problems).toEqual([])
    }
    expect(readdirSync(join(store, 'wal', '00000000')).filter((name) => /^\d/.test(name)).length).toBe(1)
  })

  test('a missing or damaged segment is reported, and --until-damage restores what precedes it', async () => {
    const folder = temporaryDir()
    const store = join(folder, 'store')
    const file = newCounter(folder)
    await countUntil(file, store, (_, shipped) => shipped > 0 && segmentsSince(store) > 3)
    const complete = await restoreFromLog(folder, store)
    const last = shippedIn(store, 'segment').at(-2) ?? ''
    const bytes = readFileSync(last)
    for (const damage of [
      () => rmSync(last),
      () => writeFileSync(last, bytes.subarray(0, -10)),
      () => writeFileSync(last, Buffer.from(bytes).fill(7, bytes.length - 20)),
      () => writeFileSync(last, 'something else'),
    ]) {
      damage()
      await expect(restoreFromLog(folder, store)).rejects.toThrow(/--until-damage/)
      const partial = await restoreFromLog(folder, store, { untilDamage: true })
      expect(partial.n).toBeLessThan(complete.n)
      expect(partial.n).toBeGreaterThan(0)
      expect(partial.upTo).toBeLessThan(complete.upTo)
      expect(partial.problems).toEqual([])
      expect(partial.notes.join()).toContain('damaged or missing')
    }
    writeFileSync(last, bytes)
    expect((await restoreFromLog(folder, store)).n).toBe(complete.n)
    const pages = shippedIn(store, 'pages').at(-1) ?? ''
    const all = readFileSync(pages)
    writeFileSync(pages, Buffer.from(all).fill(7, all.length >> 1))
    await expect(restoreFromLog(folder, store, { untilDamage: true })).rejects.toThrow(/Nothing was restored/)
  })

  test('a restore to a moment has the shipped commits up to it and nothing later', async () => {
    const folder = temporaryDir()
    const store = join(folder, 'store')
    const file = newCounter(folder)
    const first = await countUntil(file, store, (lines, shipped) => lines > 40 && shipped > 0)
    const between = (await restoreFromLog(folder, store)).upTo
    const second = await countUntil(file, store, (lines, shipped) => lines > 40 && shipped > first.acknowledged)
    const back = await restoreFromLog(folder, store, { to: between })
    expect(back.n).toBeGreaterThanOrEqual(first.shipped)
    expect(back.n).toBeLessThanOrEqual(first.acknowledged + 1)
    expect((await restoreFromLog(folder, store)).n).toBeGreaterThanOrEqual(second.shipped)
    await expect(restoreFromLog(folder, store, { to: 1 })).rejects.toThrow(/covers/)
  })

  test('a shop whose disk is lost is restored elsewhere by one command, with its keys and the newest changes', async () => {
    const folder = temporaryDir()
    const [lost, replacement, store] = ['lost', 'found', 'store'].map((name) => join(folder, name)) as [string, string, string]
    for (const path of [lost, replacement]) mkdirSync(path, { mode: 0o700 })
    const settings = { BACKUP_DIR: store, SHIP_LOG_SECONDS: '1', BACKUP_PASSPHRASE: 'correct horse battery' }
    await souk(['setup', '--email', 'ops@example.com'], lost, { stdin: 'a-long-enough-password-1\n' })
    const server = startCommand(['serve'], lost, settings)
    for await (const chunk of server.stdout) if (new TextDecoder().decode(chunk).includes('ready')) break
    expect((await souk(['reset-password', '--email', 'ops@example.com'], lost, { stdin: 'a-long-enough-password-2\n' })).status).toBe(0)
    const people = (folder: string) => {
      using connection = new Sqlite(join(folder, 'souk.db'), { readonly: true })
      return connection.query('SELECT * FROM users').all()
    }
    while (!hasSnapshot(store)) await Bun.sleep(20)
    expect((await souk(['rotate-keys'], lost)).status).toBe(0)
    server.kill('SIGTERM')
    expect(await server.exited).toBe(0)
    const before = people(lost)
    expect(before.length).toBe(1)
    const keys = readFileSync(join(lost, 'keys.json'), 'utf8')
    rmSync(lost, { recursive: true })
    const refused = await souk(['restore', '--to', '2020-01-01T00:00:00Z'], replacement, { settings })
    expect(refused).toMatchObject({ status: 1, stdout: '' })
    expect(refused.stderr).toContain('covers')
    const outcome = await souk(['restore', '--to', 'latest', '--check'], replacement, { settings })
    expect(outcome.stderr).toBe('')
    expect(outcome.status).toBe(0)
    expect(people(replacement)).toEqual(before)
    const { registered, ...secrets } = JSON.parse(keys)
    expect(registered).toBe(true)
    expect(JSON.parse(readFileSync(join(replacement, 'keys.json'), 'utf8'))).toMatchObject(secrets)
  })
})

/** Returns whether the store has a snapshot. It compares names, because the content is sealed. */
function hasSnapshot(store: string): boolean {
  try {
    return shippedIn(store, 'snapshot').length > 0
  } catch {
    return false
  }
}
