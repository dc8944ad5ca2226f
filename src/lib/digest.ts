import { createHash } from 'node:crypto'

/** SHA-256 of a text, in hex. */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** SHA-256 of what comes, in hex. */
export async function digestOfAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}

/** What passes through, as it comes. @param onEnd told its SHA-256 in hex once all has passed */
export async function* digested(chunks: AsyncIterable<Uint8Array>, onEnd: (digest: string) => void): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  for await (const chunk of chunks) {
    hash.update(chunk)
    yield chunk
  }
  onEnd(hash.digest('hex'))
}
