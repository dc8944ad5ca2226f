import { createHash } from 'node:crypto'

/** Computes the SHA-256 of a stream in hex. */
export async function digestOfAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}

/**
 * Passes a stream through and hashes it.
 * @param onEnd called at the end with the SHA-256 in hex and the length; an error it throws ends the stream
 */
export async function* withDigest(
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
