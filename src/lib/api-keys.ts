/**
 * API keys: `pk_live_`, 30 base62 characters, and 6 base62 characters of their CRC32. The checksum detects typos
 * without a lookup.
 */

type KeyKind = 'PUBLISHABLE' | 'SECRET'
type KeyMode = 'TEST' | 'LIVE'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const bodyLength = 30
const checkLength = 6
/** Larger bytes would make some characters more likely. */
const unbiasedBelow = 256 - (256 % alphabet.length)
const keyPattern = /^(pk|sk)_(live|test)_[0-9A-Za-z]{36}$/

/**
 * Creates an API key.
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

/** Checks the form and the checksum of an API key. */
export const isApiKey = (text: string): boolean =>
  keyPattern.test(text) && checkOf(text.slice(0, -checkLength)) === text.slice(-checkLength)

/** Returns the part of a key that may be stored and shown. */
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
