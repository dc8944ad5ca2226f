/** Programs that stop anywhere on their way, as if killed there, and what the next ones find and do. */
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

/** Longer than the lease of an idempotency key, shorter than any order waits. */
const restartMs = 40_000
const killedCode = 128 + constants.signals.SIGKILL

/** One that writes and one that reads: on Postgres, most of what a program costs that does so little are its connections, each with a cold cache. */
export const fewConnections = { DATABASE_CONNECTIONS: '2' }

/** What a program is sent, or which job it runs. */
export type Operation = OperationRequest | 'closeOrders' | 'resume' | 'sweep' | 'mailAbandonedCarts'
/** Where a program begins that will stop, and what it begins with. */
export type CrashScenario = {
  database: TestDatabase
  startAt: number
  operation: Operation
  settings?: Record<string, string>
  /** What is true at the processors; without it there is the sandbox alone, whose books are in the database. */
  processorStates?: ProcessorStates
  /** What else of the database counts. */
  extraRows?: (app: TestApp) => Promise<unknown>
}
/** What a program that comes next does: what a start takes up, the same request once more, or all that there is to do until nothing is left. */
export type RecoveryStep = 'resume' | 'sendAgain' | 'untilQuiet'

/** Opens the program at a stage, on a database and before processors that are as somebody has left them. */
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

/** Does what a stage is for. Returns the status of the answer; undefined where nobody is answered. */
export async function runOperation(app: TestApp, operation: Operation): Promise<number | undefined> {
  const status =
    typeof operation === 'string'
      ? void (await app.jobs[operation]())
      : (await app.call(operation.method, operation.path, operation.options)).status
  await app.jobs.messages()
  return status
}

/**
 * Has a program stop as if it were killed, as soon as so many things are done that outlast it: a commit of its own, or a call by which
 * something has changed at a processor. Whatever it does from then on never begins, and whatever it waits for never comes.
 * @param stopAfter 0: never
 * @returns how much there was by now, and what resolves when it has stopped
 */
export function simulateKill({ deps: { db } }: Pick<TestApp, 'deps'>, processors: SimulatedProcessors | undefined, stopAfter: number) {
  const { promise: stopped, resolve } = Promise.withResolvers<'stopped'>()
  let done = 0
  const isOver = () => stopAfter > 0 && done >= stopAfter
  const never = <T>() => new Promise<T>(() => undefined)
  function outlasts<T>(value: T): T | Promise<T> {
    if (isOver()) return never<T>()
    done++
    if (!isOver()) return value
    resolve('stopped')
    return never<T>()
  }
  const write = db.write.bind(db)
  db.write = async (work, options) => (isOver() ? never() : outlasts(await write(work, options)))
  processors?.around(async (call, hasChanged) => {
    if (isOver()) return never()
    // A lost response belongs to a call that the processor received.
    const settled = await call().then(
      (answer) => () => answer,
      (error: unknown) => () => {
        throw error
      },
    )
    return (await (hasChanged() || isOver() ? outlasts(settled) : settled))()
  })
  return { stopped, count: () => done }
}

/** What a program leaves that ran, or stopped: a database and what is true at the processors. */
type RunResult = {
  copy: TestDatabase
  processorStates: ProcessorStates | undefined
  status: number | undefined
  isOver: boolean
  count: number
}

/** Runs a program on a copy of the stage, in this process. */
async function runAndStop(stage: CrashScenario, stopAfter: number): Promise<RunResult> {
  const copy = await copyOf(stage.database)
  const { app, processors } = await openScenario(stage, copy, stage.processorStates)
  const { stopped, count } = simulateKill(app, processors, stopAfter)
  const work = runOperation(app, stage.operation)
  // Whoever waits in it for a database that is closed by then is of no interest.
  work.catch(() => undefined)
  const came = await Promise.race([work, stopped])
  await app.abandon()
  return {
    copy,
    processorStates: processors?.states,
    status: came === 'stopped' ? undefined : came,
    isOver: came !== 'stopped',
    count: count(),
  }
}

/** The program that is killed, compiled into one file: it starts in a third of the time. */
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

/** The same in a process of its own, which kills itself. It prints nothing if it died, as it was to. */
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
const run = (stage: CrashScenario, way: CrashMethod, after: number) => (way === 'here' ? runAndStop : runAndKill)(stage, after)

/** Runs a program to its end: how it answered, what of it outlasts it, and what the next one finds, and does. */
export async function runUninterrupted(stage: CrashScenario, way: CrashMethod, recoveries: readonly RecoveryStep[] = []) {
  const { copy, processorStates, status, count } = await run(stage, way, 0)
  const outcome = await recover(stage, copy, processorStates, recoveries)
  await copy.drop()
  return { ...outcome, status, count }
}

/** What comes after a program that never began. */
export async function recoverWithoutRun(stage: CrashScenario, recoveries: readonly RecoveryStep[]) {
  const copy = await copyOf(stage.database)
  const outcome = await recover(stage, copy, stage.processorStates, recoveries)
  await copy.drop()
  return outcome
}

/** Has a program stop, and the next one go on, in each of these ways. */
export async function crash(stage: CrashScenario, way: CrashMethod, stopAfter: number, recoveries: readonly (readonly RecoveryStep[])[]) {
  const { copy, processorStates, isOver } = await run(stage, way, stopAfter)
  if (isOver) throw new Error(`a program that was to stop after ${stopAfter} came to its end`)
  const outcomes = []
  for (const [nth, steps] of recoveries.entries()) {
    // The last one may have what the others were given a copy of.
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

/** What the next program finds, does and leaves, in this order. What was no request is not sent again. */
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
    const isToEnd = steps.includes('untilQuiet')
    for (const what of steps) {
      if (what === 'resume')
        await Promise.all([resumeOrders(app.deps, Number.MAX_SAFE_INTEGER), workMessages(app.deps, Number.MAX_SAFE_INTEGER)])
      if (what === 'sendAgain') answers.push((await runOperation(app, operation)) ?? 0)
      if (what === 'untilQuiet') await untilQuiet(app, processors)
      if (operation === 'closeOrders') await app.jobs.closeOrders()
      // On the way to where nothing is left, they are of no interest.
      if (what === steps.at(-1) || !isToEnd) states.push(await booksOf(app))
    }
    const errors = app.logged.filter(({ level }) => level === 'error')
    const [extraRows, problems] = isToEnd ? await Promise.all([stage.extraRows?.(app), problemsIn(app)]) : []
    return { found, answers, states, errors, extraRows, problems, processorStates: processors?.states }
  } finally {
    await app.close()
  }
}

/** What `souk check` finds wrong with the books. */
async function problemsIn({ deps: { db } }: TestApp): Promise<string[]> {
  const found: string[] = []
  for await (const { problems, isWork } of bookFindings(db)) if (!isWork) found.push(...problems)
  return found
}

/** When a job has something to do next, and by which names processors' payments are known by now. */
async function lookAhead({ deps: { db } }: TestApp): Promise<{ due: number; known: string[] }> {
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

/** No run takes as many. */
const roundsMax = 60

/** Lets the time pass in which everybody is heard, from one thing that is due to the next, until nothing is. */
async function untilQuiet(app: TestApp, processors: SimulatedProcessors | undefined): Promise<void> {
  for (let round = 0; round < roundsMax; round++) {
    const { due, known } = await lookAhead(app)
    processors?.passTime(known)
    if (due === Number.POSITIVE_INFINITY) return
    app.clock.advance(Math.max(1_000, due - app.clock.now()))
    await app.jobs.messages()
    await app.jobs.resume()
    await app.jobs.closeOrders()
    await app.jobs.sweep()
  }
  throw new Error('it does not come to rest')
}

/** Runs tasks, so many at once; their results are in their order. */
export async function runLimited<T>(tasks: readonly (() => Promise<T>)[], most: number): Promise<T[]> {
  const results: T[] = []
  const rest = tasks.entries()
  const worker = async () => {
    for (const [at, task] of rest) results[at] = await task()
  }
  await Promise.all(Array.from({ length: most }, worker))
  return results
}
