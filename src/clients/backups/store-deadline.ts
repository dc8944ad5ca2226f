import type { BackupStore, KeptCopy } from '../../core/backup-store.ts'
import { AppError } from '../../core/errors.ts'

/** The disk of a busy server may take minutes for what is flushed at once. */
const silentMaxMs = 10 * 60 * 1000
const retryAfterSeconds = 60

/**
 * The same store, of which nothing is waited for without end: a folder of a server that is gone never answers. What is late is given up; should it
 * wake, it takes nothing more of what was to be put.
 */
export function answering(store: BackupStore, silentMs = silentMaxMs): BackupStore {
  const silent = () =>
    new AppError('UNAVAILABLE', `${store.place} does not answer: is the disk, or the server that it is on, still there?`, {
      retryAfterSeconds,
    })

  /** @throws AppError UNAVAILABLE once the store has been at work for too long without a pause */
  async function watched<T>(work: (watch: { rests(): void; works(): void; hasEnded(): boolean }) => Promise<T>): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    let timer: ReturnType<typeof setTimeout> | undefined
    let isLate = false
    const rests = () => clearTimeout(timer)
    const works = () => {
      rests()
      timer = setTimeout(() => {
        isLate = true
        reject(silent())
      }, silentMs)
    }
    works()
    const done = work({ rests, works, hasEnded: () => isLate })
    done.catch(() => undefined)
    try {
      return await Promise.race([done, late])
    } finally {
      rests()
    }
  }
  const asked = <T>(work: () => Promise<T>): Promise<T> => watched(work)

  async function* each<T>(of: AsyncGenerator<T>): AsyncGenerator<T> {
    try {
      for (;;) {
        const { done, value } = await asked(() => of.next())
        if (done) return
        yield value
      }
    } finally {
      // Not waited for: it comes behind what does not answer.
      of.return(undefined).catch(() => undefined)
    }
  }

  return {
    ...store,
    put: (name, chunks, expected) =>
      watched(({ rests, works, hasEnded }) => {
        async function* given(): AsyncGenerator<Uint8Array> {
          const source = chunks[Symbol.asyncIterator]()
          try {
            for (;;) {
              if (hasEnded()) throw silent()
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
        return store.put(name, given(), expected)
      }),
    ...(store.adopt ? { adopt: (name: string, path: string) => asked(async () => (await store.adopt?.(name, path)) ?? false) } : {}),
    async get(name): Promise<KeptCopy | undefined> {
      const found = await asked(() => store.get(name))
      return found && { bytes: found.bytes, chunks: () => each(found.chunks()) }
    },
    delete: (name) => asked(() => store.delete(name)),
    list: (prefix) => each(store.list(prefix)),
    free: () => asked(() => store.free()),
  }
}
