/** Returns the file name of a `Content-Disposition` header; prefers `filename*` (RFC 6266). */
export function parseFileName(disposition: string | null): string | undefined {
  const [, encoded] = /filename\*=utf-8''([^;\s]+)/i.exec(disposition ?? '') ?? []
  try {
    if (encoded) return decodeURIComponent(encoded)
  } catch {
    // Badly encoded: falls back to `filename`.
  }
  return /filename="([^"]+)"/.exec(disposition ?? '')?.[1]
}
