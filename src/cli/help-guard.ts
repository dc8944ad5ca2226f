import type { Config } from '../config.ts'
import { countryIn, createOperatorGuard, type OperatorRefusalReason } from '../core/operator-guard.ts'
import { createLog } from '../lib/log.ts'
import { addressOf, isPrivate } from '../lib/networks.ts'
import { UsageError } from './failure.ts'

type GuardQuery = { readonly address: string | undefined; readonly country: string | undefined }
type Settings = Pick<Config, 'operatorIpAllowlist' | 'operatorCountries' | 'geoCountryHeader' | 'geoDatabase' | 'trustedProxies'>

/**
 * `souk help guard ADDRESS [--country XX]`: shows which condition of the operator guard refuses a super admin from an
 * address.
 * @returns 0 if none refuses, otherwise 1
 * @throws UsageError for an invalid address or country; OperatorError if the country database cannot be read
 */
export async function helpGuard(config: Settings, query: GuardQuery): Promise<number> {
  const address = addressOf(query.address ?? '')?.toString()
  if (address === undefined) throw new UsageError('ADDRESS must be an IP address, such as `souk help guard 203.0.113.9`')
  if (query.country !== undefined && countryIn(query.country) === undefined)
    throw new UsageError('--country must be a two-letter country code such as AE')
  if (query.country !== undefined && (config.geoCountryHeader === undefined || config.trustedProxies.length === 0))
    throw new UsageError('--country needs a trusted proxy: set GEO_COUNTRY_HEADER and TRUSTED_PROXIES first')
  const countryOf = await countriesOf(config)
  const reason = createOperatorGuard(config, countryOf)({ address, proxyCountry: query.country })
  process.stdout.write(`${guardText(config, { address, country: query.country, found: countryOf(address) }, reason)}\n`)
  return reason === undefined ? 0 : 1
}

async function countriesOf({ geoDatabase }: Settings): Promise<(address: string) => string | undefined> {
  if (geoDatabase === undefined) return () => undefined
  const log = createLog(
    'error',
    () => 0,
    () => undefined,
  )
  return (await import('../clients/countries.ts')).openCountries(geoDatabase, log, () => 0)
}

type Found = { readonly address: string; readonly country: string | undefined; readonly found: string | undefined }

/** Describes the three conditions in their order. */
function guardText(config: Settings, { address, country, found }: Found, reason: OperatorRefusalReason | undefined): string {
  const { operatorIpAllowlist: allowed, operatorCountries: countries } = config
  const isAddressRefused = reason === 'ADDRESS'
  const where =
    country === undefined
      ? found === undefined
        ? 'no country is known of it'
        : `GEO_DATABASE says ${found}`
      : `a proxy says ${country.toUpperCase()}`
  const ofCountry = isAddressRefused
    ? 'not looked at'
    : countries.length === 0
      ? 'passes: OPERATOR_COUNTRIES is not set'
      : isPrivate(address)
        ? 'passes: loopback and private addresses have no country'
        : `${reason === undefined ? 'passes' : 'refused'}: ${where}, OPERATOR_COUNTRIES is ${countries.join(', ')}${reason === undefined ? '' : countrySourcesOf(config)}`
  return [
    `A super admin who calls from ${address} ${reason === undefined ? 'is let in' : 'is refused with 403'}.`,
    '',
    '  token    an access token, else 401; not looked at here',
    '  role     SUPER_ADMIN; not looked at here',
    `  address  ${isAddressRefused ? 'refused' : 'passes'}: OPERATOR_IP_ALLOWLIST is ${allowed.join(', ')}`,
    `  country  ${ofCountry}`,
    '',
    config.trustedProxies.length === 0
      ? 'TRUSTED_PROXIES is not set: whoever comes through a proxy has no address, and is refused.'
      : `Through the proxies of TRUSTED_PROXIES (${config.trustedProxies.join(', ')}) it is the address that X-Forwarded-For names; through any other, whoever calls has no address, and is refused.`,
  ].join('\n')
}

/** Returns the possible sources of a country. */
function countrySourcesOf({ geoCountryHeader, geoDatabase }: Settings): string {
  if (geoCountryHeader === undefined && geoDatabase === undefined)
    return '. Nothing can say a country: set GEO_COUNTRY_HEADER or GEO_DATABASE'
  return geoCountryHeader === undefined ? '' : `. A proxy's ${geoCountryHeader} comes first: --country says what it would`
}
