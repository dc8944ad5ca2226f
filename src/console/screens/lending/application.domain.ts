/** An application: what is typed of it, what its documents are, and which files they take. */
import type { Schema } from '../../lib/api/api.ts'
import { latinOf, wholeNumber } from '../../lib/forms/number-input.ts'

type Application = Schema<'LendingApplication'>
export type Item = Schema<'LendingChecklist'>['items'][number]

export type LoanTexts = {
  amount: string
  term: string
  purpose: NonNullable<Application['purposeCode']> | ''
  partner1: NonNullable<Application['selectedTier1Partner']> | ''
  partner2: string
}

/** A draft as its fields show it. Dollars are a number of the API, with at most two decimals. */
export const textsOfLoan = (of: Application): LoanTexts => ({
  amount: of.requestedAmountUsd === null ? '' : String(of.requestedAmountUsd),
  term: of.requestedTermMonths === null ? '' : String(of.requestedTermMonths),
  purpose: of.purposeCode ?? '',
  partner1: of.selectedTier1Partner ?? '',
  partner2: of.selectedTier2Partner ?? '',
})

/** Dollars as they are typed. @returns undefined for what is no amount with at most two decimals, null for nothing */
export function dollarsTyped(text: string): number | null | undefined {
  const plain = latinOf(text).replace(/[\s,](?=\d{3}(\D|$))/g, '')
  if (plain === '') return null
  return /^\d{1,9}(\.\d{1,2})?$/.test(plain) ? Number(plain) : undefined
}

/** Months as they are typed. @returns undefined for what is no whole number from 1 to 60, null for nothing */
export function monthsTyped(text: string): number | null | undefined {
  if (text.trim() === '') return null
  const months = wholeNumber(text, 2) ?? 0
  return months >= 1 && months <= 60 ? months : undefined
}

/** Only what was changed, as `PATCH` takes it: what somebody else changed elsewhere stays. What is wrong is named by its field. */
export function loanChange(from: LoanTexts, to: LoanTexts) {
  const requestedAmountUsd = dollarsTyped(to.amount)
  const requestedTermMonths = monthsTyped(to.term)
  if (requestedAmountUsd === undefined) return { wrong: 'amount' } as const
  if (requestedTermMonths === undefined) return { wrong: 'term' } as const
  return {
    body: {
      ...(from.amount !== to.amount && { requestedAmountUsd }),
      ...(from.term !== to.term && { requestedTermMonths }),
      ...(from.purpose !== to.purpose && { purposeCode: to.purpose || null }),
      ...(from.partner1 !== to.partner1 && { selectedTier1Partner: to.partner1 || null }),
      ...(from.partner2 !== to.partner2 && { selectedTier2Partner: to.partner2.trim() || null }),
    },
  } as const
}

/** The documents that are handed in. The document leaves `documentationCompleted` free in its form, but for its items. */
export function handedIn({ documentationCompleted }: Pick<Application, 'documentationCompleted'>): ReadonlySet<string> {
  const { items } = (documentationCompleted ?? {}) as { items?: readonly { key: string; status: string }[] }
  return new Set((items ?? []).filter(({ status }) => status === 'UPLOADED').map(({ key }) => key))
}

/** Those that are required and not there. */
export const missingOf = (items: readonly Item[], there: ReadonlySet<string>): readonly Item[] =>
  items.filter(({ key, required }) => required && !there.has(key))

const endings: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/csv': 'csv',
}
/** What files an item takes, as one says it. */
export const typeNames = ({ acceptedMimeTypes }: Pick<Item, 'acceptedMimeTypes'>): string =>
  acceptedMimeTypes.map((type) => (endings[type] ?? type).toUpperCase()).join(', ')

/** The type of a file, by its name where the system that it comes from knows none, or another one for CSV. */
export function typeOf({ name, type }: Pick<File, 'name' | 'type'>): string {
  const ending = name.toLowerCase().replace(/^.*\./, '').replace('jpeg', 'jpg')
  return Object.entries(endings).find(([, known]) => known === ending)?.[0] ?? type
}

export type Unfit = 'empty' | 'tooLarge' | 'wrongType'
/** Why a file would be refused, before it is sent in vain. What it holds souk looks at. */
export function unfit(file: Pick<File, 'name' | 'type' | 'size'>, { acceptedMimeTypes, maxSizeMb }: Item): Unfit | undefined {
  if (!acceptedMimeTypes.includes(typeOf(file))) return 'wrongType'
  if (file.size > maxSizeMb * 1_048_576) return 'tooLarge'
  return file.size === 0 ? 'empty' : undefined
}
