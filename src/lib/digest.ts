import { createHash } from 'node:crypto'

/** SHA-256 of a text, in hex. */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** SHA-256 of what comes, in hex. */
export async function digestOfAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}
