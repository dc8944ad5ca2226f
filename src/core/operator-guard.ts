import type { Config } from '../config.ts'
import { blockList, isPrivate } from '../lib/networks.ts'

/** Why a super admin may not call from where they are; the first that holds, in this order. */
export type WhereReason = 'NO_ADDRESS' | 'ADDRESS' | 'COUNTRY_UNKNOWN' | 'COUNTRY'

/** From where somebody calls, as far as it can be believed. */
export type Whence = {
  /** Undefined: it cannot be told. */
  readonly address: string | undefined
  /** What a trusted proxy's header says of the country; undefined: no such header. */
  readonly proxyCountry: string | undefined
}

/** What each reason is answered with. Never the address, never the country. */
export const whereMessages: Readonly<Record<WhereReason, string>> = {
  NO_ADDRESS:
    'The address you call from cannot be told: the request was forwarded by a proxy that is not trusted, or that does not name the caller (TRUSTED_PROXIES)',
  ADDRESS: 'The address you call from is not one that operators may call from (OPERATOR_IP_ALLOWLIST)',
  COUNTRY_UNKNOWN: 'The country you call from cannot be told, and operators may call from some countries only (OPERATOR_COUNTRIES)',
  COUNTRY: 'The country you call from is not one that operators may call from (OPERATOR_COUNTRIES)',
}

type Settings = Pick<Config, 'operatorIpAllowlist' | 'operatorCountries'>

/** A country's two letters in what a proxy or a file says. `XX` is what some proxies say where they do not know. */
export function countryIn(text: string): string | undefined {
  const country = text.trim().toUpperCase()
  return /^[A-Z]{2}$/.test(country) && country !== 'XX' ? country : undefined
}

/**
 * Judges from where operators call (contract, section 8): by the address, and then by the country, where countries are set. Loopback
 * and private addresses have no country and pass.
 * @param countryOf what the operator's file says of an address; a proxy's header comes first, and one that says nothing counts as unknown
 * @returns why they may not; undefined: they may
 */
export function createOperatorGuard(
  { operatorIpAllowlist, operatorCountries }: Settings,
  countryOf: (address: string) => string | undefined,
): (whence: Whence) => WhereReason | undefined {
  const isAllowed = blockList(operatorIpAllowlist)
  return ({ address, proxyCountry }) => {
    if (address === undefined) return 'NO_ADDRESS'
    if (!isAllowed(address)) return 'ADDRESS'
    if (operatorCountries.length === 0 || isPrivate(address)) return undefined
    const country = proxyCountry === undefined ? countryOf(address) : countryIn(proxyCountry)
    if (country === undefined) return 'COUNTRY_UNKNOWN'
    return operatorCountries.includes(country) ? undefined : 'COUNTRY'
  }
}
