/** Who may see the dashboards. */
import { isGeoCountry } from '../lib/country-code.ts'
import { headerName, isCidr, listOf, setting } from './kinds.ts'

export const operators = {
  OPERATOR_IP_ALLOWLIST: setting(
    'operatorIpAllowlist',
    'list',
    '127.0.0.0/8,::1',
    'Addresses (CIDR) from which administrators may log in. Check one with `souk help guard ADDRESS`',
    listOf('IP addresses or CIDR blocks', isCidr),
  ),
  OPERATOR_COUNTRIES: setting(
    'operatorCountries',
    'list',
    undefined,
    'Countries from which administrators may log in. Default: any. Loopback and private addresses are always allowed; others need GEO_COUNTRY_HEADER or GEO_DATABASE',
    listOf('country codes of two letters, of ISO 3166-1 (GB and not UK)', isGeoCountry, (item) => item.toUpperCase()),
  ),
  GEO_COUNTRY_HEADER: setting(
    'geoCountryHeader',
    'name',
    undefined,
    'Header with the caller’s country, set by the proxies of TRUSTED_PROXIES on every request, such as `cf-ipcountry`',
    headerName,
  ),
  GEO_DATABASE: setting(
    'geoDatabase',
    'path',
    undefined,
    'mmdb file with the countries of addresses, used without a proxy header; reloaded when it changes',
    (text) => text,
  ),
} as const
