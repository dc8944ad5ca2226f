/** Who may see the dashboards. */
import { isCidr, listOf, setting } from './kinds.ts'

export const operators = {
  OPERATOR_IP_ALLOWLIST: setting(
    'operatorIpAllowlist',
    'list',
    '127.0.0.0/8,::1',
    'Addresses (CIDR) from which operators may call. Checked, and without effect as yet',
    listOf('IP addresses or CIDR blocks', isCidr),
  ),
  OPERATOR_COUNTRIES: setting(
    'operatorCountries',
    'list',
    undefined,
    'Countries from which operators may call; unset: any. Checked, and without effect as yet',
    listOf(
      'two-letter country codes',
      (item) => /^[A-Z]{2}$/.test(item),
      (item) => item.toUpperCase(),
    ),
  ),
} as const
