/** Bidi embedding and override characters (UAX #9). They affect the rest of the paragraph unless they are closed. */
const embeddingMarks = /[\u202a-\u202e]/g
const isolateMarks = /[\u2066-\u2069]/g
/** Every isolate is closed. */
const isBalanced = /^[^\u2066-\u2069]*(?:[\u2066-\u2068][^\u2066-\u2069]*\u2069[^\u2066-\u2069]*)*$/

/**
 * Makes user text safe to insert into a sentence: its bidi marks cannot reorder the rest. Standalone text uses `bdi`
 * instead.
 */
export function isolateBidi(text: string): string {
  const plain = text.replace(embeddingMarks, '')
  return isBalanced.test(plain) ? plain : plain.replace(isolateMarks, '')
}
