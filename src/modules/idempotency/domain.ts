/** What sealed answers are bound to. */
export const answerSeal = (scope: string, key: string): string => `idempotency/${scope}/${key}`

/** A kept answer as it is sealed: its status, a space, and its body as JSON. */
export const keptText = (status: number, answer: unknown): string => `${status} ${JSON.stringify(answer)}`

/** What `keptText` made, or the versions before it, which had the body as a text in JSON. */
export function keptOf(text: string): { status: number; body: string } {
  if (text.startsWith('{')) return JSON.parse(text) as { status: number; body: string }
  const end = text.indexOf(' ')
  return { status: Number(text.slice(0, end)), body: text.slice(end + 1) }
}
