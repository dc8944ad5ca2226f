/** Maximum size of a public response, in bytes. */
export const publicAnswerBytesMax = 1_048_576
/** Maximum size of the records in it: 1 KB is left for the fields around them. */
export const publicRecordsBytesMax = publicAnswerBytesMax - 1_024

/** Returns the bytes of a text in UTF-8. */
export const bytesOf = (text: string): number => Buffer.byteLength(text)

/**
 * Shortens texts so that they fit into a number of bytes together. Only texts above an equal share are shortened.
 * @param shorten returns a text of at most `most` bytes
 */
export function shortenTexts(texts: readonly string[], bytes: number, shorten: (text: string, most: number) => string): string[] {
  const total = texts.reduce((sum, text) => sum + bytesOf(text), 0)
  if (total <= bytes) return [...texts]
  const share = Math.floor(bytes / texts.length)
  return texts.map((text) => (bytesOf(text) <= share ? text : shorten(text, share)))
}
