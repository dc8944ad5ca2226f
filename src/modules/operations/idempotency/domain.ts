/** What sealed answers are bound to. */
export const answerSeal = (scope: string, key: string): string => `idempotency/${scope}/${key}`

/** Longer bodies are deflated: an order says most words many times, and what is long is kept apart from its row. Characters. */
const packedFrom = 512
/** What no JSON begins with, before a body that is deflated, as base64. */
const packed = '~'

/** A kept answer as it is sealed: its status, a space, and its body as JSON. */
export function keptText(status: number, answer: unknown): string {
  const body = JSON.stringify(answer) ?? 'null'
  return `${status} ${body.length < packedFrom ? body : packed + pack(body)}`
}

/** What `keptText` made, or the versions before it, which had the body as a text in JSON. */
export function keptOf(text: string): { status: number; body: string } {
  if (text.startsWith('{')) return JSON.parse(text) as { status: number; body: string }
  const end = text.indexOf(' ')
  const body = text.slice(end + 1)
  return { status: Number(text.slice(0, end)), body: body.startsWith(packed) ? unpack(body.slice(packed.length)) : body }
}

// The least effort makes it less than a third as long, and more of it hardly less: the row of an order stays under the 2,000 bytes from which
// Postgres keeps a part of it elsewhere.
const pack = (text: string): string =>
  Buffer.from(Bun.deflateSync(Buffer.from(text), { library: 'libdeflate', level: 1 })).toString('base64')
const unpack = (text: string): string => Buffer.from(Bun.inflateSync(Buffer.from(text, 'base64'))).toString('utf8')
