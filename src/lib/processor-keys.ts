/** What the keys and hosts of payment processors say of themselves. */

/** What begins like a secret, and so is nothing that a browser may see (Stripe, Tap, Checkout.com: `sk_`; Stripe's restricted keys: `rk_`, and of webhooks: `whsec_`). */
export const looksSecret = (key: string): boolean => /^\s*(sk|rk|whsec)_/i.test(key)

/** Of test or of real money, where a key says so itself; undefined where it does not, as live keys of Checkout.com. */
export function modeOfKey(key: string): 'TEST' | 'LIVE' | undefined {
  if (/^(pk|sk|rk)_(test|sbox)_/.test(key)) return 'TEST'
  return /^(pk|sk|rk)_live_/.test(key) ? 'LIVE' : undefined
}

/** Of an address where no key says it: a processor's sandbox and whatever is on this machine are of test money. */
export function modeOfHost(apiUrl: string): 'TEST' | 'LIVE' {
  const host = URL.parse(apiUrl)?.hostname ?? ''
  return /(^|[.-])sandbox([.-]|$)/.test(host) || isThisMachine(host) ? 'TEST' : 'LIVE'
}

/** Whether a URL's host is this machine by a name that no other machine has. */
export const isThisMachine = (host: string): boolean => /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(host)

/** Whether an account's money is real: by its key where that says so, else by its host. */
export const modeOf = (apiUrl: string, key = ''): 'TEST' | 'LIVE' => modeOfKey(key) ?? modeOfHost(apiUrl)
