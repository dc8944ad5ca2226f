/** What a provider last said, and asking it anew: one question at a time, however many want to know. */
import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import { type Provider, ProviderError } from '../../../core/operations.ts'
import { aside } from '../../../core/request-context.ts'
import { isFresh, type Kind, type Known, pauseAfter, renewedAfterMs, type Shown } from './domain.ts'
import { platformStore as store } from './store.ts'

export type Board<Item> = {
  readonly provider: string
  /**
   * What is known now. Waits for the provider as long as a page may wait; then, and where it does not answer, the last good answer is shown as stale.
   * @throws AppError UNAVAILABLE where there has been none
   */
  show(): Promise<Shown<Item>>
  /** Asks anew, unless the last answer is quite new or the provider is to be left alone. For a job. */
  renew(): Promise<'known' | 'renewed' | 'failed'>
}

type BoardDeps = Pick<Deps, 'db' | 'clock' | 'log'>
const retryAfterSeconds = 5

/** @param inTime what comes of something as long as a page waits, else undefined */
export function createBoard<Item>(
  { db, clock, log }: BoardDeps,
  kind: Kind,
  provider: Provider<Item>,
  inTime: <T>(work: Promise<T>) => Promise<T | undefined>,
): Board<Item> {
  const { name, source } = provider
  // What souk tells of itself lies in the same database: kept there, it would only be older.
  const isKept = name !== 'self'
  let known: Known<Item> | undefined
  let asking: Promise<boolean> | undefined
  let failures = 0
  /** By the monotonic clock. */
  let notBefore = Number.NEGATIVE_INFINITY

  async function ask(): Promise<boolean> {
    const asOf = clock.now()
    try {
      known = { asOf, items: await provider.ask() }
    } catch (error) {
      failures++
      const pause = pauseAfter(failures, error instanceof ProviderError ? error.retryAfterMs : undefined)
      notBefore = clock.monotonic() + pause
      log.warn('operations.not_answered', { kind, provider: name, failures, againInMs: pause, error })
      return false
    }
    if (failures > 0) log.info('operations.answers_again', { kind, provider: name, failures })
    failures = 0
    if (isKept) await keep(known)
    return true
  }

  /** What cannot be kept can be shown all the same. */
  async function keep({ asOf, items }: Known<Item>): Promise<void> {
    const row = { kind, source, asOf, body: JSON.stringify(items) }
    await aside(() => db.write((tx) => store.keepAnswer(tx, row))).catch((error: unknown) =>
      log.warn('operations.answer_not_kept', { kind, error }),
    )
  }

  /** Whether the provider has answered; it is asked once for all who want to know at the same time. */
  function askOnce(): Promise<boolean> {
    asking ??= ask().finally(() => {
      asking = undefined
    })
    return asking
  }

  /** What another process, or this one before it was started again, was told later than what is known here. */
  async function lookUp(): Promise<void> {
    const row = isKept ? await store.answer(db.read, kind, source) : undefined
    // One of the future comes from a clock that has stepped back: it may be of any age, and is shown where there is nothing else.
    const isLater = row && (known === undefined || (row.asOf > known.asOf && row.asOf <= clock.now()))
    if (isLater) known = { asOf: row.asOf, items: itemsOf(row.body) }
  }

  const shown = ({ asOf, items }: Known<Item>, stale: boolean): Shown<Item> => ({ asOf: new Date(asOf).toISOString(), stale, items })

  return {
    provider: name,
    async show() {
      if (known && isFresh(known, clock.now())) return shown(known, false)
      await lookUp()
      if (known && isFresh(known, clock.now())) return shown(known, false)
      const isAnswered = clock.monotonic() >= notBefore && (await inTime(askOnce())) === true
      if (known) return shown(known, !isAnswered)
      throw new AppError('UNAVAILABLE', `The provider of ${kind} (${name}) has not answered yet: nothing is known, try again later`, {
        retryAfterSeconds,
      })
    },
    async renew() {
      await lookUp()
      if (!isKept || (known && isFresh(known, clock.now(), renewedAfterMs))) return 'known'
      if (clock.monotonic() < notBefore) return 'failed'
      return (await askOnce()) ? 'renewed' : 'failed'
    },
  }
}

/** Written here, and by nobody else. */
const itemsOf = <Item>(body: string): readonly Item[] => JSON.parse(body) as readonly Item[]
