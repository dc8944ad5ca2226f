/** What a backup by command costs those who write meanwhile, and how long restore and check take, against SQLite's own integrity check. */
import { Database as Sqlite } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { serve, signUp, souk } from '../test/cli/souk.ts'
import { only, quick, rows, say, work } from './runs.ts'

const megabytes = quick ? 100 : 1_000
const writesBefore = quick ? 300 : 2_000

const p99 = (times: readonly number[]) => [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0

async function timed<T>(what: () => Promise<T> | T): Promise<{ ms: number; answer: T }> {
  const began = performance.now()
  const answer = await what()
  return { ms: performance.now() - began, answer }
}

export async function measureBackup(): Promise<void> {
  const dataDir = join(work, 'backup')
  mkdirSync(dataDir)
  const settings = { BACKUP_DIR: join(work, 'backups'), BACKUP_PASSPHRASE: 'a passphrase of the bench' }
  const file = join(dataDir, 'souk.db')
  const server = await serve(dataDir)
  const { token } = await signUp(server)
  {
    using connection = new Sqlite(file)
    connection.run('PRAGMA busy_timeout = 60000')
    connection.run('CREATE TABLE ballast (id INTEGER PRIMARY KEY, bytes BLOB)')
    for (let nth = 0; nth < megabytes; nth++)
      connection.run(
        'INSERT INTO ballast (bytes) SELECT randomblob(1000) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n)',
      )
  }
  async function writing(isOver: (count: number) => boolean): Promise<number[]> {
    const times: number[] = []
    const one = async () => {
      while (!isOver(times.length))
        times.push((await timed(() => server.call('PATCH', '/shops/v2', { token, body: { title: `${times.length}` } }))).ms)
    }
    await Promise.all([one(), one(), one(), one()])
    return times
  }
  await writing((count) => count >= 100)
  const alone = await writing((count) => count >= writesBefore)
  let isMade = false
  const backup = timed(() => souk(['backup'], dataDir, { settings })).finally(() => {
    isMade = true
  })
  const beside = await writing(() => isMade)
  const { ms: backupMs, answer } = await backup
  if (answer.status !== 0) throw new Error(answer.stderr)
  await server.end('SIGTERM')
  const integrity = await timed(() => {
    using connection = new Sqlite(file, { readonly: true })
    return connection.query('PRAGMA integrity_check').all()
  })
  const check = await timed(() => souk(['check'], dataDir))
  const restore = await timed(() => souk(['restore', 'latest', '--check', '--data-dir', join(work, 'restored')], dataDir, { settings }))
  if (check.answer.status !== 0 || restore.answer.status !== 0) throw new Error(check.answer.stderr + restore.answer.stderr)
  say(`backup of ${megabytes} MB: ${beside.length} writes meanwhile`)
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
  const ratioOf = (one: number, other: number) => ({ ratio: (one / other).toFixed(2), spread: '', target: '≤ 2' })
  rows.push({
    what: `p99 of a durable write beside a backup of ${megabytes} MB`,
    souk: `${p99(beside).toFixed(1)} ms`,
    floor: `alone ${p99(alone).toFixed(1)} ms`,
    ...ratioOf(p99(beside), p99(alone)),
  })
  only(`souk backup of ${megabytes} MB`, seconds(backupMs), '')
  rows.push({
    what: `souk check of ${megabytes} MB`,
    souk: seconds(check.ms),
    floor: `integrity_check ${seconds(integrity.ms)}`,
    ...ratioOf(check.ms, integrity.ms),
  })
  only(`souk restore latest --check of ${megabytes} MB`, seconds(restore.ms), '')
}
