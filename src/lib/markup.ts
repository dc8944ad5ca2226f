/** Helpers for HTML that contains text of others. */

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Escapes text for HTML content and quoted attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')

/** Returns the URL if its scheme is http or https; undefined otherwise. */
export const webAddress = (text: string | null | undefined): string | undefined => {
  const url = text ? URL.parse(text) : null
  return url && /^https?:$/.test(url.protocol) ? url.href : undefined
}

const channel = (hex: string) => {
  const value = Number.parseInt(hex, 16) / 255
  return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
}
/**
 * Relative luminance (WCAG 2.1).
 * @param colour such as `#1f2937`
 */
const luminance = (colour: string): number =>
  0.2126 * channel(colour.slice(1, 3)) + 0.7152 * channel(colour.slice(3, 5)) + 0.0722 * channel(colour.slice(5, 7))

/** Returns the text colour with the higher contrast: at least 4.5 to 1 on any background. */
export const readableColorOn = (colour: string): '#000000' | '#ffffff' => (luminance(colour) > 0.179 ? '#000000' : '#ffffff')
