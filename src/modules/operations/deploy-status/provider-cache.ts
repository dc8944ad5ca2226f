/** Caches the answers of a provider. Concurrent callers share one query. */
import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import { type Provider, ProviderError } from '../../../core/operations.ts'
import { runUntracked } from '../../../core/request-context.ts'
import { type AnswerView, isFresh, type ProviderAnswer, pauseAfter, renewedAfterMs, type StatusKind } from './domain.ts'
import { platformStore as store } from './store.ts'

type ProviderCache<Item> = {
  readonly provider: string
  /**
   * Returns the current answer. Waits for the provider within the deadline; after that, or if it fails, returns the
   * last answer as stale.
   * @throws AppError UNAVAILABLE if there is no answer yet
   */
  show(): Promise<AnswerView<Item>>
  /** Queries the provider unless the answer is recent or the provider is paused. For a job. */
  renew(): Promise<'known' | 'renewed' | 'failed'>
}

type CacheDeps = Pick<Deps, 'db' | 'clock' | 'log'>
const retryAfterSeconds = 5

/** @param withDeadline returns undefined if the work exceeds the deadline of a page */
export function createProviderCache<Item>(
  { db, clock, log }: CacheDeps,
  kind: StatusKind,
  provider: Provider<Item>,
  withDeadline: <T>(work: Promise<T>) => Promise<T | undefined>,
): ProviderCache<Item> {
  const { name, source } = provider
  // The instance's own status comes from the same database, so it is not stored again.
  const isStored = name !== 'self'
  let answer: ProviderAnswer<Item> | undefined
  let running: Promise<boolean> | undefined
  let failures = 0
  /** On the monotonic clock. */
  let notBefore = Number.NEGATIVE_INFINITY

  async function ask(): Promise<boolean> {
    const asOf = clock.now()
    try {
      answer = { asOf, items: await provider.ask() }
    } catch (error) {
      failures++
      const pause = pauseAfter(failures, error instanceof ProviderError ? error.retryAfterMs : undefined)
      notBefore = clock.monotonic() + pause
      log.warn('operations.not_answered', { kind, provider: name, failures, againInMs: pause, error })
      return false
    }
    if (failures > 0) log.info('operations.answers_again', { kind, provider: name, failures })
    failures = 0
    if (isStored) await storeAnswer(answer)
    return true
  }

  /** An answer that cannot be stored is still shown. */
  async function storeAnswer({ asOf, items }: ProviderAnswer<Item>): Promise<void> {
    const row = { kind, source, asOf, body: JSON.stringify(items) }
    await runUntracked(() => db.write((tx) => store.storeAnswer(tx, row))).catch((error: unknown) =>
      log.warn('operations.answer_not_stored', { kind, error }),
    )
  }

  /** Returns whether the provider answered. Concurrent callers share the query. */
  function askOnce(): Promise<boolean> {
    running ??= ask().finally(() => {
      running = undefined
    })
    return running
  }

  /** Loads a newer answer that another process, or an earlier run of this one, has stored. */
  async function loadStored(): Promise<void> {
    const row = isStored ? await store.answer(db.read, kind, source) : undefined
    // An answer from the future comes from a clock that stepped back and may be old. It is used only without another.
    const isLater = row && (answer === undefined || (row.asOf > answer.asOf && row.asOf <= clock.now()))
    if (isLater) answer = { asOf: row.asOf, items: itemsOf(row.body) }
  }

  const viewOf = ({ asOf, items }: ProviderAnswer<Item>, stale: boolean): AnswerView<Item> => ({
    asOf: new Date(asOf).toISOString(),
    stale,
    items,
  })

  return {
    provider: name,
    async show() {
      if (answer && isFresh(answer, clock.now())) return viewOf(answer, false)
      await loadStored()
      if (answer && isFresh(answer, clock.now())) return viewOf(answer, false)
      const isAnswered = clock.monotonic() >= notBefore && (await withDeadline(askOnce())) === true
      if (answer) return viewOf(answer, !isAnswered)
      throw new AppError('UNAVAILABLE', `The provider of ${kind} (${name}) has not responded yet. Try again later`, {
        retryAfterSeconds,
      })
    },
    async renew() {
      await loadStored()
      if (!isStored || (answer && isFresh(answer, clock.now(), renewedAfterMs))) return 'known'
      if (clock.monotonic() < notBefore) return 'failed'
      return (await askOnce()) ? 'renewed' : 'failed'
    },
  }
}

const itemsOf = <Item>(body: string): readonly Item[] => JSON.parse(body) as readonly Item[]
