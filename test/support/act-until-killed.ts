/**
 * Sends one request to the whole program, or runs a job, and kills itself as soon as so many writes of it are durable.
 * If there are fewer it prints the answer's status and how many there were.
 */
import { type CallOptions, testApp } from './app.ts'
import { fewConnections, type Operation, runOperation, simulateKill } from './crash.ts'
import type { TestDatabase } from './database.ts'

export type OperationRequest = { method: string; path: string; options: CallOptions }
export type KillableRun = {
  database: Pick<TestDatabase, 'url' | 'dataDir'>
  startAt: number
  operation: Operation
  /** 0: never. */
  killAfter: number
}

/** No `await` at the top: a module that has one cannot be compiled ahead. */
async function act(): Promise<void> {
  const { database, startAt, killAfter, operation } = JSON.parse(Bun.argv[2] ?? '') as KillableRun
  const app = await testApp(fewConnections, { startAt, database: { ...database, drop: async () => undefined } })
  const { stopped, count } = simulateKill(app, undefined, killAfter)
  void stopped.then(() => process.kill(process.pid, 'SIGKILL'))
  const status = await runOperation(app, operation)
  process.stdout.write(`${status ?? 'done'} ${count()}\n`)
  await app.close()
}

void act()
