/** Kinds of business, for whoever files or looks at one. */
import type { Schema } from './api.ts'
import { catalog } from './words.ts'

const w = catalog({ en: () => import('./cohorts/en.ts'), ar: () => import('./cohorts/ar.ts'), mn: () => import('./cohorts/mn.ts') })

export type Cohort = Schema<'KybRecord'>['cohort']

/** Every one that there is: the type of the document says when one is missing here or is no more. */
const all: Readonly<Record<Cohort, true>> = {
  UAE_MAINLAND: true,
  UAE_FREEZONE: true,
  KSA_COMPANY: true,
  KUWAIT_WLL: true,
  MN_LLC: true,
  MN_SOLE: true,
  US_COMPANY: true,
  US_SOLE_PROP: true,
  UK_LTD: true,
  EU_COMPANY: true,
  SG_PTE: true,
  INTL_OTHER: true,
}
const cohorts = Object.keys(all) as readonly Cohort[]

/** A kind of business in words. */
export const cohortName = (cohort: Cohort): string => w(cohort)
/** All of them, to choose from. */
export const cohortOptions = (): readonly (readonly [Cohort, string])[] => cohorts.map((one) => [one, w(one)])
