/**
 * Sends one request to the whole program, or runs its jobs, and kills itself as soon as so many writes of it are durable.
 * If there are fewer it prints the answer's status and how many there were, and has kept the files that each of them left, if asked to.
 */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type CallOptions, testApp } from './app.ts'
import type { TestDatabase } from './database.ts'

export type ActRequest = { method: string; path: string; options: CallOptions }
export type Act = {
  database: Pick<TestDatabase, 'url' | 'dataDir'>
  startAt: number
  /** 0: never. */
  killAfter: number
  /** Where the database's files as each write left them go, under its number: what a process that died there would have left. */
  keepIn?: string | undefined
  /** Undefined: the jobs that close orders. */
  request: ActRequest | undefined
}

/** The log of SQLite beside the database holds what the database does not yet. */
function keep(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const file of ['souk.db', 'souk.db-wal']) if (existsSync(join(from, file))) copyFileSync(join(from, file), join(to, file))
}

/** No `await` at the top: a module that has one cannot be compiled ahead. */
async function act(): Promise<void> {
  const { database, startAt, killAfter, keepIn, request } = JSON.parse(Bun.argv[2] ?? '') as Act
  const app = await testApp({}, { startAt, database: { ...database, drop: async () => undefined } })
  const { db } = app.deps
  const write = db.write.bind(db)
  let durable = 0
  db.write = async (work) => {
    const value = await write(work)
    if (++durable === killAfter) process.kill(process.pid, 'SIGKILL')
    if (keepIn) keep(database.dataDir, join(keepIn, String(durable)))
    return value
  }
  const answer = request ? await app.call(request.method, request.path, request.options) : await app.jobs.closeOrders()
  await app.jobs.messages()
  process.stdout.write(`${answer?.status ?? 'done'} ${durable}\n`)
  await app.close()
}

void act()
