/** What the server calls a file; by `filename*` (RFC 6266) where that holds more than Latin letters. */
export function parseFileName(disposition: string | null): string | undefined {
  const [, whole] = /filename\*=utf-8''([^;\s]+)/i.exec(disposition ?? '') ?? []
  try {
    if (whole) return decodeURIComponent(whole)
  } catch {
    // Of another writing: the plain one is there, too.
  }
  return /filename="([^"]+)"/.exec(disposition ?? '')?.[1]
}
