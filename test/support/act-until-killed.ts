/**
 * Sends one request to the whole program, or runs its jobs, and kills itself as soon as so many writes of it are durable.
 * If there are fewer it prints the answer's status and how many there were.
 */
import { type CallOptions, testApp } from './app.ts'
import type { TestDatabase } from './database.ts'

export type ActRequest = { method: string; path: string; options: CallOptions }
export type Act = {
  database: Pick<TestDatabase, 'url' | 'dataDir'>
  startAt: number
  /** 0: never. */
  killAfter: number
  /** Undefined: the jobs that close orders. */
  request: ActRequest | undefined
}

/** No `await` at the top: a module that has one cannot be compiled ahead. */
async function act(): Promise<void> {
  const { database, startAt, killAfter, request } = JSON.parse(Bun.argv[2] ?? '') as Act
  const app = await testApp({}, { startAt, database: { ...database, drop: async () => undefined } })
  const { db } = app.deps
  const write = db.write.bind(db)
  let durable = 0
  db.write = async (work) => {
    const value = await write(work)
    if (++durable === killAfter) process.kill(process.pid, 'SIGKILL')
    return value
  }
  const answer = request ? await app.call(request.method, request.path, request.options) : await app.jobs.closeOrders()
  await app.jobs.messages()
  process.stdout.write(`${answer?.status ?? 'done'} ${durable}\n`)
  await app.close()
}

void act()
