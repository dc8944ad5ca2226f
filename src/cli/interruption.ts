/** Ctrl-C: what a command says when it is stopped, and how it ends. */

export type Signal = 'SIGINT' | 'SIGTERM'

/** 128 and the number of the signal, as shells have it. */
export const interruptedStatus: Readonly<Record<Signal, number>> = { SIGINT: 130, SIGTERM: 143 }

/** Whoever was asked for something pressed Ctrl-C instead. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/**
 * Of a whole command: says a line at Ctrl-C wherever the command has nothing of its own to say.
 * What is written is written in whole commits and whole files.
 */
export function onAnyInterruption(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (process.listenerCount(signal) > 1) return
      tell('Stopped. Nothing is half done: run it again')
      process.exit(interruptedStatus[signal])
    })
}

/** Over a bar that may be there. */
const tell = (text: string) => process.stderr.write(`${process.stderr.isTTY ? '\r\x1b[K' : ''}${text}\n`)

/**
 * From now on, until `end`, Ctrl-C and SIGTERM end the process at once. What is written is written in whole commits and whole files,
 * so there is nothing to wait for.
 * @param say what stands and how to go on, in one line; asked for when it happens
 * @param cleanUp takes away what is half made; may throw
 */
export function onInterruption(say: () => string, cleanUp: () => void = () => undefined): { end(): void } {
  const stop = (signal: Signal) => {
    try {
      cleanUp()
    } catch {
      // It was to be taken away, not kept from ending.
    }
    tell(say())
    process.exit(interruptedStatus[signal])
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return {
    end() {
      process.off('SIGINT', stop)
      process.off('SIGTERM', stop)
    },
  }
}
