/** Who may see the dashboards. */
import { isGeoCountry } from '../lib/country-code.ts'
import { headerName, isCidr, listOf, setting } from './kinds.ts'

export const operators = {
  OPERATOR_IP_ALLOWLIST: setting(
    'operatorIpAllowlist',
    'list',
    '127.0.0.0/8,::1',
    'Addresses (CIDR) from which operators may call; `souk help guard ADDRESS` says what would refuse one',
    listOf('IP addresses or CIDR blocks', isCidr),
  ),
  OPERATOR_COUNTRIES: setting(
    'operatorCountries',
    'list',
    undefined,
    'Countries from which operators may call; unset: any. Loopback and private addresses pass; others need GEO_COUNTRY_HEADER or GEO_DATABASE',
    listOf('country codes of two letters, of ISO 3166-1 (GB and not UK)', isGeoCountry, (item) => item.toUpperCase()),
  ),
  GEO_COUNTRY_HEADER: setting(
    'geoCountryHeader',
    'name',
    undefined,
    "Header in which the proxies of TRUSTED_PROXIES say the caller's country, as `cf-ipcountry`; they must set it on every request",
    headerName,
  ),
  GEO_DATABASE: setting(
    'geoDatabase',
    'path',
    undefined,
    'File in the mmdb format that says which country an address is in, where no proxy does; taken up again when it is replaced',
    (text) => text,
  ),
} as const
