import { createHash } from 'node:crypto'

/** SHA-256 of a text, in hex. */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** SHA-256 of what comes, in hex. */
export async function digestOfAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}

/** What passes through, hashed on its way. @param onEnd told SHA-256 in hex, and how many bytes there were, once all has passed; what it throws ends the stream */
export async function* digesting(
  chunks: AsyncIterable<Uint8Array>,
  onEnd: (sha256: string, bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of chunks) {
    hash.update(chunk)
    bytes += chunk.length
    yield chunk
  }
  onEnd(hash.digest('hex'), bytes)
}
