/** Writes lines, possibly later and several at once. */
export type LineWriter = {
  write(line: string): void
  /** Writes buffered lines. Call it before the process ends. */
  flush(): void
}

/** Writes the lines of one event loop turn in one call. */
export function createLineWriter(out: { write(text: string): unknown }): LineWriter {
  let buffered: string[] = []

  function flush(): void {
    if (buffered.length === 0) return
    const lines = buffered
    buffered = []
    out.write(`${lines.join('\n')}\n`)
  }

  return {
    write(line) {
      if (buffered.length === 0) setImmediate(flush)
      buffered.push(line)
    },
    flush,
  }
}

/**
 * Holds lines back until `release`, so that a terminal shows other output first. `flush` writes them at an early exit.
 */
export function holdLines(
  lines: LineWriter,
): LineWriter & { /** Returns the held lines. Later ones are written at once. */ release(): string[] } {
  let buffered: string[] | undefined = []

  function release(): string[] {
    const released = buffered ?? []
    buffered = undefined
    return released
  }

  return {
    write(line) {
      if (buffered) buffered.push(line)
      else lines.write(line)
    },
    release,
    flush() {
      for (const line of release()) lines.write(line)
      lines.flush()
    },
  }
}
