/** API keys: `pk_live_` + 30 characters of base62 + 6 of base62 of their CRC32, so that a typo is noticed without a look-up. */

export type KeyKind = 'PUBLISHABLE' | 'SECRET'
export type KeyMode = 'TEST' | 'LIVE'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const bodyLength = 30
const checkLength = 6
/** Bytes from here up would favour some characters. */
const unbiasedBelow = 256 - (256 % alphabet.length)
const keyPattern = /^(pk|sk)_(live|test)_[0-9A-Za-z]{36}$/

/**
 * A new key.
 * @param randomBytes cryptographically strong
 */
export function newApiKey(kind: KeyKind, mode: KeyMode, randomBytes: (count: number) => Uint8Array): string {
  let body = ''
  while (body.length < bodyLength) {
    for (const byte of randomBytes(bodyLength)) {
      if (byte < unbiasedBelow && body.length < bodyLength) body += alphabet[byte % alphabet.length]
    }
  }
  const head = `${kind === 'SECRET' ? 'sk' : 'pk'}_${mode === 'LIVE' ? 'live' : 'test'}_${body}`
  return head + checkOf(head)
}

/** Whether the text is a key of ours by its form and its check characters. */
export const isApiKey = (text: string): boolean =>
  keyPattern.test(text) && checkOf(text.slice(0, -checkLength)) === text.slice(-checkLength)

/** What of a key may be stored and shown to tell keys apart. */
export const prefixOf = (key: string): string => key.slice(0, 12)

function checkOf(head: string): string {
  let rest = Bun.hash.crc32(head)
  let check = ''
  for (let at = 0; at < checkLength; at++) {
    check = alphabet[rest % alphabet.length] + check
    rest = Math.floor(rest / alphabet.length)
  }
  return check
}
