/** Returns the context that answers are sealed with. */
export const answerSeal = (scope: string, key: string): string => `idempotency/${scope}/${key}`

/**
 * Bodies from this length are compressed, in characters. Orders repeat most words, and PostgreSQL stores long values
 * outside the row.
 */
const compressFrom = 512
/** Precedes a compressed body (base64). No JSON begins with it. */
const compressedMark = '~'

/** Encodes an answer for sealing: status, space, body as JSON. */
export function encodeAnswer(status: number, answer: unknown): string {
  const body = JSON.stringify(answer) ?? 'null'
  return `${status} ${body.length < compressFrom ? body : compressedMark + compress(body)}`
}

/** Decodes the text of `encodeAnswer` or of earlier versions, which stored JSON. */
export function decodeAnswer(text: string): { status: number; body: string } {
  if (text.startsWith('{')) return JSON.parse(text) as { status: number; body: string }
  const end = text.indexOf(' ')
  const body = text.slice(end + 1)
  return {
    status: Number(text.slice(0, end)),
    body: body.startsWith(compressedMark) ? decompress(body.slice(compressedMark.length)) : body,
  }
}

// Level 1 reduces to less than a third; higher levels add little. The row of an order stays below 2,000 bytes, above
// which PostgreSQL stores parts elsewhere.
const compress = (text: string): string =>
  Buffer.from(Bun.deflateSync(Buffer.from(text), { library: 'libdeflate', level: 1 })).toString('base64')
const decompress = (text: string): string => Buffer.from(Bun.inflateSync(Buffer.from(text, 'base64'))).toString('utf8')
