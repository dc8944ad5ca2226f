/** Returns the file name of a `Content-Disposition` header; prefers `filename*` (RFC 6266). */
export function parseFileName(disposition: string | null): string | undefined {
  const [, whole] = /filename\*=utf-8''([^;\s]+)/i.exec(disposition ?? '') ?? []
  try {
    if (whole) return decodeURIComponent(whole)
  } catch {
    // Badly encoded: falls back to `filename`.
  }
  return /filename="([^"]+)"/.exec(disposition ?? '')?.[1]
}
