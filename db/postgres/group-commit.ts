/** Works that stand in a line: whoever comes first goes at once, and those that come meanwhile go together. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type DatabaseStats, engineErrorCode, isDatabaseAway, type Writer } from '../engine.ts'
import { recordValue } from '../histogram.ts'
import { arrangeBatch, type BatchStatement, type RecordedWork, recordWork } from './batch.ts'
import { refusalOf } from './errors.ts'
import { defaultTransactionMode, type Pool } from './pool.ts'
import { begin, commit, ignoreRejection } from './transaction.ts'

/** Works in one transaction. */
const worksMax = 32
/**
 * For how long those behind wait for those that are under way, milliseconds: who waits for a lock is to hold up nobody
 * who need not wait for it.
 */
const turnMs = 250
/** For how long several wait for a lock, before each tries by itself. */
const lockMs = 1_000
const lockNotAvailable = '55P03'
const shortLockTimeout = { name: 'wait less', text: `select set_config('lock_timeout', '${lockMs}', true)`, values: [] }

type Work = (tx: Writer) => Promise<unknown>
type WaitingWork = PromiseWithResolvers<unknown> & {
  readonly work: Work
  /** Runs it as whoever has asked for it. */
  readonly asked: <T>(run: () => T) => T
}

/** @param alone runs a work in a transaction of its own */
export function createGroupCommit(
  writers: Pool,
  stats: DatabaseStats,
  alone: (work: Work) => Promise<unknown>,
): (work: Work, line: string) => Promise<unknown> {
  /** Those that wait, of each line that somebody of is under way. */
  const lines = new Map<string, WaitingWork[]>()

  /** Lets those behind go once this is done, or takes too long. */
  function goOnAfter(line: string, underWay: Promise<unknown>): void {
    const timer = setTimeout(goOn, turnMs)
    let isOver = false
    function goOn(): void {
      clearTimeout(timer)
      if (isOver) return
      isOver = true
      const next = lines.get(line)?.splice(0, worksMax) ?? []
      if (next.length === 0) lines.delete(line)
      else goOnAfter(line, runTogether(next))
    }
    underWay.then(goOn, goOn)
  }

  async function runTogether(all: readonly WaitingWork[]): Promise<void> {
    const [first] = all
    const left = first && all.length === 1 ? all : await commitTogether(all)
    const each = left.map(({ work, asked, resolve, reject }) => asked(() => alone(work)).then(resolve, reject))
    // Each of several waits by itself, and nobody for all of them.
    if (all.length === 1) await Promise.all(each)
  }

  /** Returns those of which nothing was done, and that are to be tried by themselves. All others are told. */
  async function commitTogether(all: readonly WaitingWork[]): Promise<readonly WaitingWork[]> {
    const tried = await Promise.all(all.map(async (one) => ({ one, ...(await one.asked(() => recordWork(one.work))) })))
    const going = tried.filter(({ one, ended }) => {
      const hasFailed = ended && 'error' in ended
      // Nothing of it was sent.
      if (hasFailed) one.reject(refusalOf(ended.error))
      return !hasFailed
    })
    let fit: typeof going = []
    try {
      const { sending, ...found } = arrangeBatch(going)
      fit = found.fit
      if (fit.length > 0) await commitAll(sending)
      stats.writes += fit.length
      if (fit.length > 0) {
        stats.commits++
        recordValue(stats.commitWorks, fit.length)
      }
      for (const one of fit) settleWork(one)
      return found.unfit.map(({ one }) => one)
    } catch (error) {
      const refusal = refusalOf(error)
      // Of a lock that one of them waits for the others need not hear.
      const isOver = engineErrorCode(error) !== lockNotAvailable && isDatabaseAway(refusal)
      if (!isOver) return going.map(({ one }) => one)
      for (const { one } of fit) one.reject(refusal)
      return going.filter((one) => !fit.includes(one)).map(({ one }) => one)
    }
  }

  async function commitAll(sending: readonly BatchStatement[]): Promise<void> {
    const session = await writers.session()
    const transaction = begin(session, defaultTransactionMode)
    let broken = false
    try {
      ignoreRejection(transaction.query(shortLockTimeout))
      for (const { statement, answer } of sending) {
        const sent = transaction.query(statement)
        if (answer) sent.then(answer.resolve, answer.reject)
        else ignoreRejection(sent)
      }
      await commit(session, transaction, stats)
    } catch (error) {
      await session.rollBack().catch(() => {
        broken = true
      })
      throw error
    } finally {
      session.release(broken)
    }
  }

  return async (work, line) => {
    const waiting = lines.get(line)
    if (waiting) {
      const mine = { work, asked: AsyncLocalStorage.snapshot(), ...Promise.withResolvers<unknown>() }
      waiting.push(mine)
      return mine.promise
    }
    lines.set(line, [])
    const done = alone(work)
    goOnAfter(line, done)
    return done
  }
}

function settleWork({ one, scope, ended }: RecordedWork & { one: WaitingWork }): void {
  try {
    for (const effect of scope.afterCommit) effect()
    if (ended && 'value' in ended) one.resolve(ended.value)
  } catch (error) {
    // The others of this commit must still be told.
    one.reject(error)
  }
}
