/** What a page reads, and how it stands with it. */
import { type ReadonlySignal, signal } from '@preact/signals'
import { useLayoutEffect, useMemo } from 'preact/hooks'
import type { Prefetched } from './prefetch.ts'
import { createRetry } from './retry.ts'

export type Resource<T> = {
  /** Undefined until it has come for the first time; it stays while it is read again. */
  readonly data: ReadonlySignal<T | undefined>
  readonly error: ReadonlySignal<unknown>
  readonly loading: ReadonlySignal<boolean>
  /**
   * Reads it again, behind what is shown. While it is being read already, once more after that, for all who asked meanwhile: what happens all
   * the time would else end each reading before it has come.
   */
  reload(): Promise<void>
  /** Shows what a change has answered, without asking for it again. */
  put(data: T): void
}

/**
 * Reads something when the page is shown, and again when `key` changes: what came for another key is dropped.
 * @param read gets a signal that is aborted when nobody wants its answer any more
 * @param take gives what was read ahead of the first drawing, where something was
 */
export function useResource<T>(
  key: string,
  read: (signal: AbortSignal) => Promise<T>,
  take?: () => Prefetched<T> | undefined,
): Resource<T> {
  const resource = useMemo(() => {
    const early = take?.()
    const isThere = early?.data !== undefined
    /** Of the first reading alone. */
    let coming = isThere ? undefined : early?.coming
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
      trying.begun()
      loading.value = true
      try {
        const first = coming
        coming = undefined
        const read_ = await (first ?? read(mine.signal))
        if (asking !== mine) return
        data.value = read_
        error.value = undefined
        trying.over()
      } catch (refusal) {
        if (asking === mine) {
          error.value = refusal
          trying.failed(refusal)
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
      trying.over()
      data.value = fresh
      error.value = undefined
      loading.value = false
    }
    function end(): void {
      isOver = true
      asking?.abort()
      asking = undefined
      trying.over()
    }
    return { isThere, data, error, loading, reload, put, end }
  }, [key])
  // Not an effect: that comes a frame later, and somebody waits.
  useLayoutEffect(() => {
    if (!resource.isThere) void resource.reload()
    return resource.end
  }, [resource])
  return resource
}
