/** The form values of a KYB record and its body. */
import type { Schema } from '../../lib/api/api.ts'
import type { Cohort } from '../../lib/format/lending-names.ts'
import { toLatinDigits } from '../../lib/forms/number-input.ts'

export type OwnerTexts = { readonly name: string; readonly share: string }
type KybTexts = {
  cohort: Cohort
  legalName: string
  registrationNumber: string
  country: string
  owners: readonly OwnerTexts[]
}
type KybBody = Pick<Schema<'KybRecord'>, 'cohort' | 'legalName' | 'registrationNumber' | 'country' | 'owners'>

/** Default cohort by country. */
const defaultCohorts: Readonly<Record<string, Cohort>> = {
  AE: 'UAE_MAINLAND',
  SA: 'KSA_COMPANY',
  KW: 'KUWAIT_WLL',
  MN: 'MN_LLC',
  US: 'US_COMPANY',
  GB: 'UK_LTD',
  SG: 'SG_PTE',
}

const euCountries = new Set('AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE'.split(' '))
const defaultCohort = (country: string): Cohort => defaultCohorts[country] ?? (euCountries.has(country) ? 'EU_COMPANY' : 'INTL_OTHER')

/** Returns initial values: of the rejected record or of the shop. */
export const textsOfKyb = (record: KybBody | undefined, shop: { country: string; title: string }): KybTexts =>
  record
    ? { ...record, owners: record.owners.map(({ name, share }) => ({ name, share: String(share) })) }
    : {
        cohort: defaultCohort(shop.country),
        legalName: '',
        registrationNumber: '',
        country: shop.country,
        owners: [{ name: '', share: '100' }],
      }

/**
 * Parses a share in ten-thousandths of a percent.
 * @returns undefined unless it is above 0, up to 100, with at most 4 decimals
 */
export function parseShare(text: string): number | undefined {
  const [, integer, decimalPart = ''] = /^(\d{1,3})(?:[.,](\d{1,4}))?$/.exec(toLatinDigits(text)) ?? []
  if (integer === undefined) return undefined
  const units = Number(integer) * 10_000 + Number(decimalPart.padEnd(4, '0'))
  return units > 0 && units <= 1_000_000 ? units : undefined
}

type KybResult = { readonly body: KybBody } | { readonly error: 'share' | 'sum' }

/** Builds the body, or reports wrong shares. The API checks the rest. */
export function kybBody({ cohort, legalName, registrationNumber, country, owners }: KybTexts): KybResult {
  const units = owners.map(({ share }) => parseShare(share))
  if (units.includes(undefined)) return { error: 'share' }
  if (units.reduce<number>((sum, unit) => sum + (unit ?? 0), 0) > 1_000_000) return { error: 'sum' }
  return {
    body: {
      cohort,
      legalName: legalName.trim(),
      registrationNumber: registrationNumber.trim(),
      country,
      owners: owners.map(({ name }, index) => ({ name: name.trim(), share: (units[index] ?? 0) / 10_000 })),
    },
  }
}
