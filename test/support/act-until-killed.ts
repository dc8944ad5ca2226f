/**
 * Sends one request to the program, or runs a job, and kills its own process after `killAfter` durable writes.
 * If there are fewer writes, it prints the status of the response and their number.
 */
import { type CallOptions, testApp } from './app.ts'
import { fewConnections, type Operation, runOperation, simulateKill } from './crash.ts'
import type { TestDatabase } from './database.ts'

export type OperationRequest = { method: string; path: string; options: CallOptions }
export type KillableRun = {
  database: Pick<TestDatabase, 'url' | 'dataDir'>
  startAt: number
  operation: Operation
  /** 0 disables the kill. */
  killAfter: number
}

/** A function, because a module with a top-level `await` cannot be compiled to bytecode. */
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
