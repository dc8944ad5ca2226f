import type { Deps } from '../core/deps.ts'

/** Longer than a client needs for the largest list. A client that reads byte by byte would block export slots. */
export const exportMaxMs = 4 * 60 * 60_000

type TextStreamOptions = Pick<Deps, 'clock' | 'log'> & {
  /** Name of the list in log lines. */
  readonly list: string
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
  /** Called at the end, possibly more than once. */
  readonly onEnd?: () => void
  /** Ends the reading early; called after `onEnd`, possibly more than once. */
  readonly onLeave: () => Promise<unknown>
}

/**
 * Streams a text piece by piece. A started response can only break off on errors, so that nobody mistakes a part for
 * the whole; also after `exportMaxMs`.
 * @param next returns the next piece; its errors are logged and break off the response
 */
export function streamText(
  next: () => Promise<IteratorResult<string, void>>,
  { clock, log, list, signal, onEnd, onLeave }: TextStreamOptions,
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
          // Bun would print an error with source code.
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
