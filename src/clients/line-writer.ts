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
