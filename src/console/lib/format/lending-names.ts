/** Names of KYB and lending values, for merchants and operators. */
import type { Schema } from '../api/api.ts'
import { catalog, language, type Message } from '../i18n/catalog.ts'
import { stateName } from '../i18n/common.ts'

export const lendingText = catalog({
  en: () => import('../i18n/lending/en.ts'),
  ar: () => import('../i18n/lending/ar.ts'),
  mn: () => import('../i18n/lending/mn.ts'),
})

/** Names and descriptions of documents. English is empty, because the API sends English texts. */
const documents = catalog<Readonly<Record<string, Message>>>({
  en: () => Promise.resolve({ default: {} }),
  ar: () => import('../i18n/documents/ar.ts'),
  mn: () => import('../i18n/documents/mn.ts'),
})

type Application = Schema<'QueuedLendingApplication'>
export type Cohort = Application['cohort']
export type LendingStatus = Application['status']
export type Outcome = Schema<'Repayment'>['outcome']

export const cohorts = [
  'UAE_MAINLAND',
  'UAE_FREEZONE',
  'KSA_COMPANY',
  'KUWAIT_WLL',
  'MN_LLC',
  'MN_SOLE',
  'US_COMPANY',
  'US_SOLE_PROP',
  'UK_LTD',
  'EU_COMPANY',
  'SG_PTE',
  'INTL_OTHER',
] as const satisfies readonly Cohort[]
export const tiers = ['TIER_1_REFERRAL', 'TIER_2_PARTNER'] as const satisfies readonly Application['tier'][]
export const outcomes = ['ON_TIME', 'LATE', 'DEFAULT'] as const satisfies readonly Outcome[]

/** Returns the name of a value, or the value if it has no text. */
const kindName = (kind: string, value: string): string => lendingText.find(`${kind}.${value}`) ?? value
/** Returns the name of a cohort; the code itself without a translation, as the names below. */
export const cohortName = (cohort: string): string => kindName('cohort', cohort)
/** Returns the name of the partner tier that decides on an application. */
export const tierName = (tier: string): string => kindName('tier', tier)
/** Returns the name of a loan's purpose. */
export const purposeName = (purpose: string): string => kindName('purpose', purpose)
/** Returns the name of a repayment's outcome. */
export const outcomeName = (outcome: string): string => kindName('outcome', outcome)
/** Returns the name of an application's status, or that of `stateName` where lending has none of its own. */
export const lendingStateName = (status: string): string => lendingText.find(`status.${status}`) ?? stateName(status)

/** Returns all cohorts for a select field. */
export const cohortOptions = (): readonly (readonly [Cohort, string])[] => cohorts.map((cohort) => [cohort, cohortName(cohort)])

type Gap = Pick<Schema<'TierGap'>, 'targetTier' | 'blockingDefaultCount' | 'guidance'>
/** Returns what blocks a tier, besides the counts: the API's own text in English, else a text for the tier. */
export function guidanceOf({ targetTier, blockingDefaultCount, guidance }: Gap): string | undefined {
  if (language === 'en') return guidance
  return blockingDefaultCount > 0 ? lendingText.find(`blocked.${targetTier}`) : undefined
}

/** Returns the title of a document; without a translation, as in English, its readable key. */
export const documentName = (key: string): string => documents.find(key) ?? humanizeKey(key)

/** Translates a checklist item; keeps the API's text where there is no translation. */
export function translateItem<Item extends { readonly key: string; readonly label: string; readonly description: string }>(
  item: Item,
): Item {
  const { key, label, description } = item
  return { ...item, label: documents.find(key) ?? label, description: documents.find(`${key}.text`) ?? description }
}

/** Makes a key without a text readable, such as `bank_statements_12m`. */
export const humanizeKey = (key: string): string => {
  const text = key.replaceAll('_', ' ').toLowerCase()
  return text.charAt(0).toUpperCase() + text.slice(1)
}
