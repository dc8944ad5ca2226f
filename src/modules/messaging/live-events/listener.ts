/** One who listens: what is to be sent next, up to a bound, and how it ends. */

/** Why a stream ended; the metrics say how many of each. */
export const endings = ['client', 'token', 'access', 'shop', 'slow', 'stopping', 'unchecked'] as const
export type Ending = (typeof endings)[number]

/** Who listens, and to what. */
export type Viewer = {
  /** Undefined: an operator. */
  readonly shopId: string | undefined
  /** Of the account, or of the key. */
  readonly accountId: string
  /** False: orders, and the shop itself, alone. */
  readonly seesCatalog: boolean
}

/** What is not read by then ends the stream: its client goes on from where it was. */
export const unreadBytesMax = 512 * 1024

export type Listener = ReturnType<typeof createListener>

/** @param onEnd told once */
export function createListener(viewer: Viewer, onEnd: (ending: Ending) => void) {
  let queue: Uint8Array[] = []
  let bytes = 0
  let ended: Ending | undefined
  let wake: (() => void) | undefined
  let drained: (() => void) | undefined
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  /** What came while it was still told of before. */
  let held: Uint8Array[] | undefined

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
    // Nobody reads: what is left would be waited for.
    queue = []
    try {
      controller?.error(undefined)
    } catch {
      // It was over already.
    }
  }

  function push(chunk: Uint8Array): void {
    if (ended !== undefined) return
    bytes += chunk.length
    // However much there is to tell at once: who has read all of before has it.
    if (bytes > unreadBytesMax && bytes > chunk.length) end('slow')
    else {
      queue.push(chunk)
      wake?.()
    }
  }

  const stream = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given
      },
      async pull(given) {
        if (queue.length === 0 && ended === undefined)
          await new Promise<void>((resume) => {
            wake = resume
          })
        wake = undefined
        for (const chunk of queue) given.enqueue(chunk)
        bytes = held?.reduce((sum, { length }) => sum + length, 0) ?? 0
        queue = []
        drained?.()
        if (ended !== undefined && ended !== 'slow') given.close()
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
    /** Sends what comes from now on after what is told of before. */
    hold(): void {
      held = []
    },
    /** Tells of before. Resolves once there is room for more. */
    async tellBefore(chunk: Uint8Array): Promise<void> {
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
    /** All of before is told. */
    release(): void {
      const [waiting, size] = [held ?? [], held?.reduce((sum, { length }) => sum + length, 0) ?? 0]
      held = undefined
      bytes -= size
      for (const chunk of waiting) push(chunk)
    },
    send(chunk: Uint8Array): void {
      if (!held) {
        push(chunk)
        return
      }
      bytes += chunk.length
      if (bytes > unreadBytesMax) end('slow')
      else held.push(chunk)
    },
  }
}
