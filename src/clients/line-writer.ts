export type LineWriter = {
  write(line: string): void
  /** Writes what is still held back; called before the process ends. */
  flush(): void
}

/** Lines of one turn of the loop go out in one call. */
export function createLineWriter(out: { write(text: string): unknown }): LineWriter {
  let held: string[] = []

  function flush(): void {
    if (held.length === 0) return
    const lines = held
    held = []
    out.write(`${lines.join('\n')}\n`)
  }

  return {
    write(line) {
      if (held.length === 0) setImmediate(flush)
      held.push(line)
    },
    flush,
  }
}
