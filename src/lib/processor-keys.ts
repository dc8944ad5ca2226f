/** Facts that keys and hosts of payment processors reveal. */

/**
 * Detects secret keys, which browsers must not see (`sk_` of Stripe, Tap and Checkout.com; `rk_` and `whsec_` of
 * Stripe).
 */
export const looksLikeSecret = (key: string): boolean => /^\s*(sk|rk|whsec)_/i.test(key)

/** Returns the mode that a key states; undefined if it states none, as live keys of Checkout.com. */
export function modeOfKey(key: string): 'TEST' | 'LIVE' | undefined {
  if (/^(pk|sk|rk)_(test|sbox)_/.test(key)) return 'TEST'
  return /^(pk|sk|rk)_live_/.test(key) ? 'LIVE' : undefined
}

/** Returns the mode of a host without a stating key: sandboxes and this machine are `TEST`. */
export function modeOfHost(apiUrl: string): 'TEST' | 'LIVE' {
  const host = URL.parse(apiUrl)?.hostname ?? ''
  return /(^|[.-])sandbox([.-]|$)/.test(host) || isThisMachine(host) ? 'TEST' : 'LIVE'
}

/** Returns whether a URL's host is a loopback name or address. */
export const isThisMachine = (host: string): boolean => /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(host)

/** Returns the mode of an account by its key, or by its host. */
export const modeOf = (apiUrl: string, key = ''): 'TEST' | 'LIVE' => modeOfKey(key) ?? modeOfHost(apiUrl)
