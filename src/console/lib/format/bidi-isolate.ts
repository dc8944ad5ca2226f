/** Marks that turn the direction of what follows (UAX #9), up to the end of the paragraph where nobody ends them. */
const turning = /[\u202a-\u202e]/g
const isolating = /[\u2066-\u2069]/g
/** Each is ended behind where it began. */
const isBalanced = /^[^\u2066-\u2069]*(?:[\u2066-\u2068][^\u2066-\u2069]*\u2069[^\u2066-\u2069]*)*$/

/**
 * A text of people as it goes into a sentence: none of its marks turns what the sentence says behind it. Where it stands by itself, a `bdi`
 * contains it whole.
 */
export function isolateBidi(text: string): string {
  const plain = text.replace(turning, '')
  return isBalanced.test(plain) ? plain : plain.replace(isolating, '')
}
