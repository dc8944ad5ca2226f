/** A listener: a bounded queue of chunks, and how the stream ends. */

/** Why a stream ended, as counted by metrics. */
export const endings = ['client', 'token', 'access', 'shop', 'slow', 'stopping', 'unchecked'] as const
export type Ending = (typeof endings)[number]

/** A listener's identity and permissions. */
export type Viewer = {
  /** Undefined for an operator. */
  readonly shopId: string | undefined
  /** The id of the account or key. */
  readonly accountId: string
  /** False: only orders and the shop itself. */
  readonly seesCatalog: boolean
}

/** Unread bytes that end a stream. Its client then resumes. */
export const unreadBytesMax = 512 * 1024

export type Listener = ReturnType<typeof createListener>

/** @param onEnd is called once */
export function createListener(viewer: Viewer, onEnd: (ending: Ending) => void) {
  let queue: Uint8Array[] = []
  let bytes = 0
  let ended: Ending | undefined
  let wake: (() => void) | undefined
  let drained: (() => void) | undefined
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  /** Chunks that wait until past events are sent. */
  let heldBack: Uint8Array[] | undefined

  function end(ending: Ending): void {
    if (ended !== undefined) return
    ended = ending
    onEnd(ending)
    drained?.()
    if (ending === 'client') return
    if (wake && ending !== 'slow') {
      wake()
      return
    }
    // Drops the queue, which is not read any more.
    queue = []
    try {
      controller?.error(undefined)
    } catch {
      // The stream was closed already.
    }
  }

  function push(chunk: Uint8Array): void {
    if (ended !== undefined) return
    bytes += chunk.length
    // A single chunk may exceed the limit if everything before was read.
    if (bytes > unreadBytesMax && bytes > chunk.length) end('slow')
    else {
      queue.push(chunk)
      wake?.()
    }
  }

  const stream = new ReadableStream<Uint8Array>(
    {
      start(streamController) {
        controller = streamController
      },
      async pull(streamController) {
        if (queue.length === 0 && ended === undefined)
          await new Promise<void>((resume) => {
            wake = resume
          })
        wake = undefined
        for (const chunk of queue) streamController.enqueue(chunk)
        bytes = heldBack?.reduce((sum, { length }) => sum + length, 0) ?? 0
        queue = []
        drained?.()
        if (ended !== undefined && ended !== 'slow') streamController.close()
      },
      cancel: () => end('client'),
    },
    { highWaterMark: 0 },
  )

  return {
    viewer,
    stream,
    isOver: () => ended !== undefined,
    end,
    /** Holds new chunks back until past events are sent. */
    hold(): void {
      heldBack = []
    },
    /** Sends past events. Resolves when there is room for more. */
    async sendPast(chunk: Uint8Array): Promise<void> {
      if (ended !== undefined) return
      bytes += chunk.length
      queue.push(chunk)
      wake?.()
      if (queue.length > 0 && ended === undefined)
        await new Promise<void>((resume) => {
          drained = resume
        })
      drained = undefined
    },
    /** Sends the held chunks: all past events are sent. */
    release(): void {
      const [waiting, size] = [heldBack ?? [], heldBack?.reduce((sum, { length }) => sum + length, 0) ?? 0]
      heldBack = undefined
      bytes -= size
      for (const chunk of waiting) push(chunk)
    },
    send(chunk: Uint8Array): void {
      if (!heldBack) {
        push(chunk)
        return
      }
      bytes += chunk.length
      if (bytes > unreadBytesMax) end('slow')
      else heldBack.push(chunk)
    },
  }
}
