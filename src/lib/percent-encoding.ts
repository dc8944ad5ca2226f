/** Decodes percent-encoding; returns text unchanged that is not valid. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
