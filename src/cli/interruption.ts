/** What a command prints on Ctrl-C, and how it ends. */

export type Signal = 'SIGINT' | 'SIGTERM'

/** 128 plus the number of the signal, like shells. */
export const interruptedStatus: Readonly<Record<Signal, number>> = { SIGINT: 130, SIGTERM: 143 }

/** Ctrl-C was pressed at a prompt. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/** Prints a line on Ctrl-C if the command has no text of its own. Commits and files are always complete. */
export function onAnyInterruption(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (process.listenerCount(signal) > 1) return
      printLine('Stopped. No partial changes were saved. Run it again')
      process.exit(interruptedStatus[signal])
    })
}

/** Replaces a progress bar. */
const printLine = (text: string) => process.stderr.write(`${process.stderr.isTTY ? '\r\x1b[K' : ''}${text}\n`)

/**
 * Ends the process at once on Ctrl-C and SIGTERM until `end`. Commits and files are always complete.
 * @param say returns a line: what is done and how to continue
 * @param cleanUp removes unfinished files; may throw
 */
export function onInterruption(say: () => string, cleanUp: () => void = () => undefined): { end(): void } {
  const stop = (signal: Signal) => {
    try {
      cleanUp()
    } catch {
      // A failed cleanup must not prevent the end.
    }
    printLine(say())
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

/** Reports that an import was stopped. Returns the status to exit with. */
export function importInterrupted({ dryRun }: { readonly dryRun: boolean }): number {
  const advice = dryRun ? '' : ' Run it again to continue; nothing is created twice.'
  process.stderr.write(`Stopped before the end of the file.${advice}\n`)
  return interruptedStatus.SIGINT
}
