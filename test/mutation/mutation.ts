/** One change to a source: the lines that it touches before and after it, each on one line. */
export type Mutation = { at: string; before: string; after: string }

type Position = { line: number; column: number }
/** A mutant as Stryker reports it: lines and columns count from one. */
type Mutant = { location: { start: Position; end: Position }; replacement: string; mutatorName: string }

/** Returns the lines that a mutant changes, before and after. */
export function mutationOf(source: string, { location: { start, end }, replacement, mutatorName }: Mutant): Mutation {
  const lines = source.split('\n').slice(start.line - 1, end.line)
  const before = lines.join('\n')
  const head = before.slice(0, start.column - 1)
  const tail = (lines.at(-1) ?? '').slice(end.column - 1)
  return { at: `${start.line}:${start.column} (${mutatorName})`, before: onOneLine(before), after: onOneLine(head + replacement + tail) }
}

const onOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
