import type { Deps } from '../core/deps.ts'

type Streaming = {
  readonly log: Deps['log']
  /** What it is called in the log, where it breaks. */
  readonly list: string
  /** The caller's: aborted when they have gone. */
  readonly signal: AbortSignal
  /** Called however it ends, and more than once. */
  readonly onEnd?: () => void
  /** Ends the reading when the caller has gone. */
  readonly onLeave: () => Promise<unknown>
}

/**
 * A text that is read piece by piece as it is sent. An answer that has begun can only break off, so that nobody takes a part for the whole.
 * @param next the next piece; what it throws is logged, and breaks the answer off
 */
export function streamed(
  next: () => Promise<IteratorResult<string, void>>,
  { log, list, signal, onEnd, onLeave }: Streaming,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let isCancelled = false
  const hasLeft = () => isCancelled || signal.aborted
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await next()
          if (hasLeft()) return
          if (!done) return controller.enqueue(encoder.encode(value))
          onEnd?.()
          controller.close()
        } catch (error) {
          onEnd?.()
          if (hasLeft()) return
          log.error('export.broken', { list, error })
          // Bun would print any error with the source around it.
          controller.error(undefined)
        }
      },
      async cancel() {
        isCancelled = true
        onEnd?.()
        await onLeave()
      },
    },
    { highWaterMark: 0 },
  )
}
