/**
 * Time limit of a test that starts processes, fills databases or generates many cases, in milliseconds. It only ends tests that hang: the longest
 * takes three minutes on a busy machine. A file with such tests calls `setDefaultTimeout(longTestMs)`, because Bun's own limit is 5 s.
 */
export const longTestMs = 900_000
