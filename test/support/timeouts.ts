/**
 * Time limit, in milliseconds, of a test that starts processes, fills databases or generates many cases. It only ends
 * tests that hang: the longest one takes three minutes on a busy machine. Files with such tests call
 * `setDefaultTimeout(longTestMs)`, because Bun's default limit is 5 s.
 */
export const longTestMs = 900_000
