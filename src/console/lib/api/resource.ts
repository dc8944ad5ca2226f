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
 * @param takeResponse returns a prefetched response
 */
export function useResource<T>(
  key: string,
  read: (signal: AbortSignal) => Promise<T>,
  takeResponse?: () => Prefetched<T> | undefined,
): Resource<T> {
  const resource = useMemo(() => {
    const prefetched = takeResponse?.()
    const isPrefetched = prefetched?.data !== undefined
    /** The prefetched response; used by the first read only. */
    let firstResponse = isPrefetched ? undefined : prefetched?.promise
    const data = signal(prefetched?.data)
    const error = signal<unknown>(undefined)
    const loading = signal(!isPrefetched)
    let current: AbortController | undefined
    let running: Promise<void> | undefined
    let next: Promise<void> | undefined
    let isDisposed = false
    const retry = createRetry(() => reload())
    async function readOnce(): Promise<void> {
      const controller = new AbortController()
      current = controller
      retry.cancel()
      loading.value = true
      try {
        const first = firstResponse
        firstResponse = undefined
        const loaded = await (first ?? read(controller.signal))
        if (current !== controller) return
        data.value = loaded
        error.value = undefined
        retry.reset()
      } catch (cause) {
        if (current === controller) {
          error.value = cause
          retry.retryAfter(cause)
        }
      } finally {
        if (current === controller) loading.value = false
      }
    }
    function reload(): Promise<void> {
      if (isDisposed) return Promise.resolve()
      if (running) {
        next ??= running.then(() => {
          next = undefined
          return reload()
        })
        return next
      }
      running = readOnce().finally(() => {
        running = undefined
      })
      return running
    }
    function put(newData: T): void {
      current?.abort()
      current = undefined
      retry.reset()
      data.value = newData
      error.value = undefined
      loading.value = false
    }
    function dispose(): void {
      isDisposed = true
      current?.abort()
      current = undefined
      retry.reset()
    }
    return { isPrefetched, data, error, loading, reload, read: () => read(new AbortController().signal), put, dispose }
  }, [key])
  // A layout effect, because an effect starts one frame later.
  useLayoutEffect(() => {
    if (!resource.isPrefetched) void resource.reload()
    return resource.dispose
  }, [resource])
  return resource
}
