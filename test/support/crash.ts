/** Stops the program at any durable effect, as a kill would, and lets the next program recover. */
import { constants } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { payments } from '../../db/schema/payments.ts'
import { bookFindings } from '../../src/modules/payments/ledger/index.ts'
import { workMessages } from '../../src/modules/selling/order/saga/payment-messages.ts'
import { resumeOrders } from '../../src/modules/selling/order/saga/resume-orders.ts'
import type { KillableRun, OperationRequest } from './act-until-killed.ts'
import { type TestApp, testApp } from './app.ts'
import { type Books, booksOf } from './books.ts'
import { copyOf, type TestDatabase, temporaryDir } from './database.ts'
import { type ProcessorStates, type SimulatedProcessors, simulateProcessors } from './persistent-processors.ts'
import { startChild } from './process.ts'

/** Longer than the lease of an idempotency key, shorter than any waiting time of an order. */
const restartMs = 40_000
const killedCode = 128 + constants.signals.SIGKILL

/**
 * One connection to write and one to read. On PostgreSQL, opening connections is most of the cost of such a short run.
 */
export const fewConnections = { DATABASE_CONNECTIONS: '2' }

/** A request that the program receives, or a job that it runs. */
export type Operation = OperationRequest | 'closeOrders' | 'resume' | 'sweep' | 'mailAbandonedCarts'
/** The initial state of a program that will be stopped, and its operation. */
export type CrashScenario = {
  database: TestDatabase
  startAt: number
  operation: Operation
  settings?: Record<string, string>
  /** State at the processors. Without it there is only the sandbox, whose state is in the database. */
  processorStates?: ProcessorStates
  /** Reads further data that must be equal after recovery. */
  extraRows?: (app: TestApp) => Promise<unknown>
}
/** A step of the next program: resume as at a start, repeat the request, or work until nothing is due. */
export type RecoveryStep = 'resume' | 'sendAgain' | 'untilQuiet'

/** Opens the program of a scenario on a database and with the states of processors that an earlier program left. */
export async function openScenario(
  { startAt, settings }: Omit<CrashScenario, 'operation'>,
  database: TestDatabase,
  processorStates: ProcessorStates | undefined,
  laterMs = 0,
) {
  const lookUpTxt = async () => ({ strings: processors?.states.txt ?? [] })
  const app = await testApp({ ...fewConnections, ...settings }, { database, startAt: startAt + laterMs, lookUpTxt })
  const processors: SimulatedProcessors | undefined = processorStates && simulateProcessors(app, structuredClone(processorStates))
  return { app, processors }
}

/** Runs the operation. Returns the status of the response; undefined for a job. */
export async function runOperation(app: TestApp, operation: Operation): Promise<number | undefined> {
  const status =
    typeof operation === 'string'
      ? void (await app.jobs[operation]())
      : (await app.call(operation.method, operation.path, operation.options)).status
  await app.jobs.messages()
  return status
}

/**
 * Simulates a kill after `stopAfter` durable effects: commits, and calls that changed something at a processor. From
 * then on no write or call of the program starts or settles.
 * @param stopAfter 0 disables the kill
 * @returns `stopped` resolves at the kill; `count` returns the number of effects
 */
export function simulateKill({ deps: { db } }: Pick<TestApp, 'deps'>, processors: SimulatedProcessors | undefined, stopAfter: number) {
  const { promise: stopped, resolve } = Promise.withResolvers<'stopped'>()
  let done = 0
  const isOver = () => stopAfter > 0 && done >= stopAfter
  const never = <T>() => new Promise<T>(() => undefined)
  function countEffect<T>(value: T): T | Promise<T> {
    if (isOver()) return never<T>()
    done++
    if (!isOver()) return value
    resolve('stopped')
    return never<T>()
  }
  const write = db.write.bind(db)
  db.write = async (work, options) => (isOver() ? never() : countEffect(await write(work, options)))
  processors?.around(async (call, hasChanged) => {
    if (isOver()) return never()
    // A lost response belongs to a call that the processor received.
    const settled = await call().then(
      (answer) => () => answer,
      (error: unknown) => () => {
        throw error
      },
    )
    return (await (hasChanged() || isOver() ? countEffect(settled) : settled))()
  })
  return { stopped, count: () => done }
}

/** State that a finished or stopped program left: its database and the processors' states. */
type RunResult = {
  copy: TestDatabase
  processorStates: ProcessorStates | undefined
  status: number | undefined
  isOver: boolean
  count: number
}

/** Runs a program in this process on a copy of the scenario's database. */
async function runAndStop(stage: CrashScenario, stopAfter: number): Promise<RunResult> {
  const copy = await copyOf(stage.database)
  const { app, processors } = await openScenario(stage, copy, stage.processorStates)
  const { stopped, count } = simulateKill(app, processors, stopAfter)
  const work = runOperation(app, stage.operation)
  // Ignores errors of work that finds the database closed.
  work.catch(() => undefined)
  const outcome = await Promise.race([work, stopped])
  await app.abandon()
  return {
    copy,
    processorStates: processors?.states,
    status: outcome === 'stopped' ? undefined : outcome,
    isOver: outcome !== 'stopped',
    count: count(),
  }
}

/** Compiles the program that kills itself into one file, which starts in a third of the time. */
async function bundle(): Promise<string> {
  const entrypoint = join(import.meta.dir, 'act-until-killed.ts')
  const { outputs } = await Bun.build({
    entrypoints: [entrypoint],
    outdir: temporaryDir(),
    target: 'bun',
    format: 'cjs',
    bytecode: true,
    external: ['pg-native'],
  })
  return outputs.find(({ kind }) => kind === 'entry-point')?.path ?? entrypoint
}
let program: Promise<string> | undefined

/** Runs a program in a separate process that kills itself. The process prints only if it was not killed. */
async function runAndKill({ database, startAt, operation }: CrashScenario, killAfter: number): Promise<RunResult> {
  const copy = await copyOf(database)
  const act: KillableRun = { database: { url: copy.url, dataDir: copy.dataDir }, startAt, operation, killAfter }
  program ??= bundle()
  await using child = startChild(await program, [JSON.stringify(act)])
  const { value: printed } = await child.lines.next()
  const code = await child.exited
  if (code !== (printed === undefined ? killedCode : 0)) throw new Error(`the process ended with ${code}`)
  const [status, count = 0] = (printed ?? '').split(' ').map(Number)
  return { copy, processorStates: undefined, status, isOver: printed !== undefined, count }
}

export type CrashMethod = 'here' | 'process'
const run = (stage: CrashScenario, method: CrashMethod, after: number) => (method === 'here' ? runAndStop : runAndKill)(stage, after)

/** Runs a program to its end, and then the recovery steps. Returns status, number of durable effects and outcome. */
export async function runUninterrupted(stage: CrashScenario, method: CrashMethod, recoveries: readonly RecoveryStep[] = []) {
  const { copy, processorStates, status, count } = await run(stage, method, 0)
  const outcome = await recover(stage, copy, processorStates, recoveries)
  await copy.drop()
  return { ...outcome, status, count }
}

/** Runs the recovery steps on the scenario's initial state, as if the program never ran. */
export async function recoverWithoutRun(stage: CrashScenario, recoveries: readonly RecoveryStep[]) {
  const copy = await copyOf(stage.database)
  const outcome = await recover(stage, copy, stage.processorStates, recoveries)
  await copy.drop()
  return outcome
}

/** Stops a program after `stopAfter` effects, and recovers from copies of that state by each list of steps. */
export async function crash(
  stage: CrashScenario,
  method: CrashMethod,
  stopAfter: number,
  recoveries: readonly (readonly RecoveryStep[])[],
) {
  const { copy, processorStates, isOver } = await run(stage, method, stopAfter)
  if (isOver) throw new Error(`the program ended before ${stopAfter} effects`)
  const outcomes = []
  for (const [nth, steps] of recoveries.entries()) {
    // The last recovery uses the original instead of a copy.
    const database = nth === recoveries.length - 1 ? copy : await copyOf(copy)
    outcomes.push({
      ...(await recover(stage, database, processorStates, steps)),
      steps,
      what: `stopped after ${stopAfter}, then ${steps.join(', ')}`,
    })
    await database.drop()
  }
  return outcomes
}

/** Opens the next program, runs its steps, and returns the books it found and those after each step. */
export async function recover(
  stage: CrashScenario,
  database: TestDatabase,
  processorStates: ProcessorStates | undefined,
  steps: readonly RecoveryStep[],
) {
  const { operation } = stage
  const { app, processors } = await openScenario(stage, database, processorStates, restartMs)
  try {
    const found = await booksOf(app)
    const answers: number[] = []
    const states: Books[] = []
    const worksUntilQuiet = steps.includes('untilQuiet')
    for (const what of steps) {
      if (what === 'resume')
        await Promise.all([resumeOrders(app.deps, Number.MAX_SAFE_INTEGER), workMessages(app.deps, Number.MAX_SAFE_INTEGER)])
      if (what === 'sendAgain') answers.push((await runOperation(app, operation)) ?? 0)
      if (what === 'untilQuiet') await untilQuiet(app, processors)
      if (operation === 'closeOrders') await app.jobs.closeOrders()
      // Intermediate states do not matter if a later step works until nothing is due.
      if (what === steps.at(-1) || !worksUntilQuiet) states.push(await booksOf(app))
    }
    const errors = app.logged.filter(({ level }) => level === 'error')
    const [extraRows, problems] = worksUntilQuiet ? await Promise.all([stage.extraRows?.(app), problemsIn(app)]) : []
    return { found, answers, states, errors, extraRows, problems, processorStates: processors?.states }
  } finally {
    await app.close()
  }
}

/** Returns the problems that `souk check` finds in the books. */
async function problemsIn({ deps: { db } }: TestApp): Promise<string[]> {
  const found: string[] = []
  for await (const { problems, isWork } of bookFindings(db)) if (!isWork) found.push(...problems)
  return found
}

/** Returns the time at which a job has work next, and the processor references of the stored payments. */
async function nextWork({ deps: { db } }: TestApp): Promise<{ due: number; known: string[] }> {
  const [{ due } = {}] = await db.read.rows<{ due: number | string | null }>(sql`
    select min(at) as due from (
      select min(resume_at) as at from orders
      union all select min(expires_at) from orders where status = 'PENDING_PAYMENT'
      union all select min(resume_at) from refunds
      union all select min(ask_at) from payments
      union all select min(resume_at) from payment_messages) as dues`)
  const named = await db.read.select({ name: payments.processorReference }).from(payments)
  return { due: Number(due ?? Number.POSITIVE_INFINITY), known: named.flatMap(({ name }) => name ?? []) }
}

/** More rounds than any run needs. */
const roundsMax = 60

/** Advances the clock to each due time and runs the jobs, until nothing is due. Processors settle in between. */
async function untilQuiet(app: TestApp, processors: SimulatedProcessors | undefined): Promise<void> {
  for (let round = 0; round < roundsMax; round++) {
    const { due, known } = await nextWork(app)
    processors?.passTime(known)
    if (due === Number.POSITIVE_INFINITY) return
    app.clock.advance(Math.max(1_000, due - app.clock.now()))
    await app.jobs.messages()
    await app.jobs.resume()
    await app.jobs.closeOrders()
    await app.jobs.sweep()
  }
  throw new Error('work is still due after the last round')
}

/** Runs tasks, at most `most` at once. Returns their results in order. */
export async function runLimited<T>(tasks: readonly (() => Promise<T>)[], most: number): Promise<T[]> {
  const results: T[] = []
  const rest = tasks.entries()
  const worker = async () => {
    for (const [at, task] of rest) results[at] = await task()
  }
  await Promise.all(Array.from({ length: most }, worker))
  return results
}
