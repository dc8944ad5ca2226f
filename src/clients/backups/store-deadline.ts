import type { BackupStore, StoredCopy } from '../../core/backup-store.ts'
import { AppError } from '../../core/errors.ts'

/** A busy server's disk may take minutes to flush. */
const idleMaxMs = 10 * 60 * 1000
const retryAfterSeconds = 60

/**
 * Adds timeouts to a store, since a folder of a lost file server never responds. A late put stops reading its source.
 */
export function withStoreDeadline(store: BackupStore, idleMs = idleMaxMs): BackupStore {
  const timeoutError = () =>
    new AppError('UNAVAILABLE', `${store.place} does not respond. Check its disk or server`, {
      retryAfterSeconds,
    })

  /** @throws AppError UNAVAILABLE once the store has worked for too long without a pause */
  async function withTimeout<T>(work: (watch: { rests(): void; works(): void; hasEnded(): boolean }) => Promise<T>): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    let timer: ReturnType<typeof setTimeout> | undefined
    let isLate = false
    const stopTimer = () => clearTimeout(timer)
    const startTimer = () => {
      stopTimer()
      timer = setTimeout(() => {
        isLate = true
        reject(timeoutError())
      }, idleMs)
    }
    startTimer()
    const running = work({ rests: stopTimer, works: startTimer, hasEnded: () => isLate })
    running.catch(() => undefined)
    try {
      return await Promise.race([running, late])
    } finally {
      stopTimer()
    }
  }
  const call = <T>(work: () => Promise<T>): Promise<T> => withTimeout(work)

  async function* withTimeoutEach<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
    try {
      for (;;) {
        const { done, value } = await call(() => source.next())
        if (done) return
        yield value
      }
    } finally {
      // Not awaited: it would wait behind the store that does not respond.
      source.return(undefined).catch(() => undefined)
    }
  }

  return {
    ...store,
    put: (name, chunks, expected) =>
      withTimeout(({ rests, works, hasEnded }) => {
        async function* monitoredChunks(): AsyncGenerator<Uint8Array> {
          const source = chunks[Symbol.asyncIterator]()
          try {
            for (;;) {
              if (hasEnded()) throw timeoutError()
              rests()
              const { done, value } = await source.next()
              works()
              if (done) return
              yield value
            }
          } finally {
            await source.return?.()
          }
        }
        return store.put(name, monitoredChunks(), expected)
      }),
    ...(store.adopt ? { adopt: (name: string, path: string) => call(async () => (await store.adopt?.(name, path)) ?? false) } : {}),
    async get(name): Promise<StoredCopy | undefined> {
      const copy = await call(() => store.get(name))
      return copy && { bytes: copy.bytes, chunks: () => withTimeoutEach(copy.chunks()) }
    },
    delete: (name) => call(() => store.delete(name)),
    list: (prefix) => withTimeoutEach(store.list(prefix)),
    free: () => call(() => store.free()),
  }
}
