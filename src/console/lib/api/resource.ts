/** Data that a page reads, with its state. */
import { type ReadonlySignal, signal } from '@preact/signals'
import { useLayoutEffect, useMemo } from 'preact/hooks'
import type { Prefetched } from './prefetch.ts'
import { createRetry } from './retry.ts'

export type Resource<T> = {
  /** Undefined until the first response; kept while reloading. */
  readonly data: ReadonlySignal<T | undefined>
  readonly error: ReadonlySignal<unknown>
  readonly loading: ReadonlySignal<boolean>
  /**
   * Reloads. A call during a reload runs one more reload afterwards, for all callers: aborting instead would starve a
   * page with frequent events.
   */
  reload(): Promise<void>
  /** Reads the present data without showing it. */
  read(): Promise<T>
  /** Replaces the data by the response of a write. */
  put(data: T): void
}

/**
 * Reads data when the page is shown and when `key` changes.
 * @param read gets a signal that aborts when the result is no longer needed
 * @param take returns a prefetched response
 */
export function useResource<T>(
  key: string,
  read: (signal: AbortSignal) => Promise<T>,
  take?: () => Prefetched<T> | undefined,
): Resource<T> {
  const resource = useMemo(() => {
    const early = take?.()
    const isThere = early?.data !== undefined
    /** The prefetched response; used by the first read only. */
    let coming = isThere ? undefined : early?.promise
    const data = signal(early?.data)
    const error = signal<unknown>(undefined)
    const loading = signal(!isThere)
    let asking: AbortController | undefined
    let underWay: Promise<void> | undefined
    let next: Promise<void> | undefined
    let isOver = false
    const trying = createRetry(() => reload())
    async function readOnce(): Promise<void> {
      const mine = new AbortController()
      asking = mine
      trying.cancel()
      loading.value = true
      try {
        const first = coming
        coming = undefined
        const read_ = await (first ?? read(mine.signal))
        if (asking !== mine) return
        data.value = read_
        error.value = undefined
        trying.reset()
      } catch (refusal) {
        if (asking === mine) {
          error.value = refusal
          trying.retryAfter(refusal)
        }
      } finally {
        if (asking === mine) loading.value = false
      }
    }
    function reload(): Promise<void> {
      if (isOver) return Promise.resolve()
      if (underWay) {
        next ??= underWay.then(() => {
          next = undefined
          return reload()
        })
        return next
      }
      underWay = readOnce().finally(() => {
        underWay = undefined
      })
      return underWay
    }
    function put(fresh: T): void {
      asking?.abort()
      asking = undefined
      trying.reset()
      data.value = fresh
      error.value = undefined
      loading.value = false
    }
    function end(): void {
      isOver = true
      asking?.abort()
      asking = undefined
      trying.reset()
    }
    return { isThere, data, error, loading, reload, read: () => read(new AbortController().signal), put, end }
  }, [key])
  // A layout effect, because an effect starts one frame later.
  useLayoutEffect(() => {
    if (!resource.isThere) void resource.reload()
    return resource.end
  }, [resource])
  return resource
}
