import type { Config } from '../config.ts'
import { blockList, isPrivate } from '../lib/networks.ts'

/** Why an operator request is refused by its location; the first reason in this order counts. */
export type OperatorRefusalReason = 'NO_ADDRESS' | 'ADDRESS' | 'COUNTRY_UNKNOWN' | 'COUNTRY'

/** The trusted part of a caller's location. */
type CallerLocation = {
  /** Undefined: unknown. */
  readonly address: string | undefined
  /** Country header of a trusted proxy; undefined without one. */
  readonly proxyCountry: string | undefined
}

/** Messages of the refusals. They contain neither the address nor the country. */
export const operatorRefusalMessages: Readonly<Record<OperatorRefusalReason, string>> = {
  NO_ADDRESS: 'Your address is unknown: the request came through a proxy that is not trusted or does not name the client (TRUSTED_PROXIES)',
  ADDRESS: 'Operators cannot log in or work from your address (OPERATOR_IP_ALLOWLIST)',
  COUNTRY_UNKNOWN: 'Your country is unknown, and operators are limited to certain countries (OPERATOR_COUNTRIES)',
  COUNTRY: 'Operators cannot log in or work from your country (OPERATOR_COUNTRIES)',
}

type Settings = Pick<Config, 'operatorIpAllowlist' | 'operatorCountries'>

/** Parses a country code of a proxy or file. Some proxies send `XX` for unknown. */
export function countryIn(text: string): string | undefined {
  const country = text.trim().toUpperCase()
  return /^[A-Z]{2}$/.test(country) && country !== 'XX' ? country : undefined
}

/**
 * Checks the location of operator requests: first the address, then the country if
 * OPERATOR_COUNTRIES is set. Loopback and private addresses have no country and pass.
 * @param countryOf lookup in GEO_DATABASE. A proxy header has precedence; an empty one counts as unknown
 * @returns the reason of a refusal; undefined if the request is allowed
 */
export function createOperatorGuard(
  { operatorIpAllowlist, operatorCountries }: Settings,
  countryOf: (address: string) => string | undefined,
): (whence: CallerLocation) => OperatorRefusalReason | undefined {
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
