/** What a page reads, and how it stands with it. */
import { type ReadonlySignal, signal } from '@preact/signals'
import { useLayoutEffect, useMemo } from 'preact/hooks'

export type Resource<T> = {
  /** Undefined until it has come for the first time; it stays while it is read again. */
  readonly data: ReadonlySignal<T | undefined>
  readonly error: ReadonlySignal<unknown>
  readonly loading: ReadonlySignal<boolean>
  /** Reads it again, behind what is shown. */
  reload(): Promise<void>
  /** Shows what a change has answered, without asking for it again. */
  put(data: T): void
}

/**
 * Reads something when the page is shown, and again when `key` changes: what came for another key is dropped.
 * @param read gets a signal that is aborted when nobody wants its answer any more
 */
export function useResource<T>(key: string, read: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const resource = useMemo(() => {
    const data = signal<T | undefined>(undefined)
    const error = signal<unknown>(undefined)
    const loading = signal(true)
    let asking: AbortController | undefined
    async function reload(): Promise<void> {
      asking?.abort()
      const mine = new AbortController()
      asking = mine
      loading.value = true
      try {
        const read_ = await read(mine.signal)
        if (asking !== mine) return
        data.value = read_
        error.value = undefined
      } catch (refusal) {
        if (asking === mine) error.value = refusal
      } finally {
        if (asking === mine) loading.value = false
      }
    }
    function put(fresh: T): void {
      asking?.abort()
      asking = undefined
      data.value = fresh
      error.value = undefined
      loading.value = false
    }
    return { data, error, loading, reload, put, end: () => asking?.abort() }
  }, [key])
  // Not an effect: that comes a frame later, and somebody waits.
  useLayoutEffect(() => {
    void resource.reload()
    return resource.end
  }, [resource])
  return resource
}
