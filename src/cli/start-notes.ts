/** What a terminal shows of the log of a start. */

/** Returns the advice in lines of the log as sentences, and lines of problems that have none as they are. */
export const notesOf = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => {
    const { level, advice } = JSON.parse(line)
    if (typeof advice === 'string') return [`${advice}.`]
    return level === 'info' ? [] : [line]
  })
