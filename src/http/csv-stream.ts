import type { Deps } from '../core/deps.ts'

/** Longer than any honest reader takes for the largest list; who reads drop by drop keeps others from theirs. */
export const exportMaxMs = 4 * 60 * 60_000

type Streaming = Pick<Deps, 'clock' | 'log'> & {
  /** What it is called in the log, where it breaks. */
  readonly list: string
  /** The caller's: aborted when they have gone. */
  readonly signal: AbortSignal
  /** Called however it ends, maybe more than once. */
  readonly onEnd?: () => void
  /** Ends the reading where it is not read to its end; called after `onEnd`, maybe more than once. */
  readonly onLeave: () => Promise<unknown>
}

/**
 * A text that is read piece by piece as it is sent. An answer that has begun can only break off, so that nobody takes a part for the whole; it
 * does after `exportMaxMs`.
 * @param next the next piece; what it throws is logged, and breaks the answer off
 */
export function streamed(
  next: () => Promise<IteratorResult<string, void>>,
  { clock, log, list, signal, onEnd, onLeave }: Streaming,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let isCancelled = false
  const hasLeft = () => isCancelled || signal.aborted
  const startedAt = clock.monotonic()
  async function leave(): Promise<void> {
    onEnd?.()
    await onLeave()
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          if (clock.monotonic() - startedAt > exportMaxMs) throw new Error('an export was read too slowly')
          const { done, value } = await next()
          if (hasLeft()) return await leave()
          if (!done) return controller.enqueue(encoder.encode(value))
          onEnd?.()
          controller.close()
        } catch (error) {
          onEnd?.()
          if (hasLeft()) return
          log.error('export.broken', { list, error })
          // Bun would print any error with the source around it.
          controller.error(undefined)
          await onLeave()
        }
      },
      async cancel() {
        isCancelled = true
        await leave()
      },
    },
    { highWaterMark: 0 },
  )
}
