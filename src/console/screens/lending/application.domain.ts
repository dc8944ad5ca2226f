/** The form values, documents and file rules of a loan application. */
import type { Schema, Versioned } from '../../lib/api/api.ts'
import { toLatinDigits, wholeNumber } from '../../lib/forms/number-input.ts'

type Application = Schema<'LendingApplication'>
export type VersionedApplication = Versioned<Application>
export type Item = Schema<'LendingChecklist'>['items'][number]

export type LoanTexts = {
  amount: string
  term: string
  purpose: NonNullable<Application['purposeCode']> | ''
  partner1: NonNullable<Application['selectedTier1Partner']> | ''
  partner2: string
}

/** Returns the form's values of a draft. Dollars have at most two decimals. */
export const textsOfLoan = (application: Application): LoanTexts => ({
  amount: application.requestedAmountUsd === null ? '' : String(application.requestedAmountUsd),
  term: application.requestedTermMonths === null ? '' : String(application.requestedTermMonths),
  purpose: application.purposeCode ?? '',
  partner1: application.selectedTier1Partner ?? '',
  partner2: application.selectedTier2Partner ?? '',
})

/** Parses dollars; null for empty, undefined if invalid. */
export function parseDollars(text: string): number | null | undefined {
  const digits = toLatinDigits(text).replace(/[\s,](?=\d{3}(\D|$))/g, '')
  if (digits === '') return null
  return /^\d{1,9}(\.\d{1,2})?$/.test(digits) ? Number(digits) : undefined
}

/** Parses months from 1 to 60; null for empty, undefined if invalid. */
export function parseMonths(text: string): number | null | undefined {
  if (text.trim() === '') return null
  const months = wholeNumber(text, 2) ?? 0
  return months >= 1 && months <= 60 ? months : undefined
}

/** Builds the `PATCH` body of the changed fields, or names the wrong field. */
export function loanChange(from: LoanTexts, to: LoanTexts) {
  const requestedAmountUsd = parseDollars(to.amount)
  const requestedTermMonths = parseMonths(to.term)
  if (requestedAmountUsd === undefined) return { error: 'amount' } as const
  if (requestedTermMonths === undefined) return { error: 'term' } as const
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

/** Returns the uploaded documents. The schema leaves `documentationCompleted` free except for its items. */
export function uploadedKeys({ documentationCompleted }: Pick<Application, 'documentationCompleted'>): ReadonlySet<string> {
  const { items } = (documentationCompleted ?? {}) as { items?: readonly { key: string; status: string }[] }
  return new Set((items ?? []).filter(({ status }) => status === 'UPLOADED').map(({ key }) => key))
}

/** Returns the required items without a file. */
export const missingItems = (items: readonly Item[], uploadedKeys: ReadonlySet<string>): readonly Item[] =>
  items.filter(({ key, required }) => required && !uploadedKeys.has(key))

const extensions: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/csv': 'csv',
}
/** Returns the accepted file types as text. */
export const typeNames = ({ acceptedMimeTypes }: Pick<Item, 'acceptedMimeTypes'>): string =>
  acceptedMimeTypes.map((type) => (extensions[type] ?? type).toUpperCase()).join(', ')

/** Returns a file's type by its name, because systems report none or another one for CSV. */
export function typeOf({ name, type }: Pick<File, 'name' | 'type'>): string {
  const extension = name.toLowerCase().replace(/^.*\./, '').replace('jpeg', 'jpg')
  return Object.entries(extensions).find(([, candidate]) => candidate === extension)?.[0] ?? type
}

type FileProblem = 'empty' | 'tooLarge' | 'wrongType'
/** Returns why the API would refuse a file. The API checks the content. */
export function findFileProblem(
  file: Pick<File, 'name' | 'type' | 'size'>,
  { acceptedMimeTypes, maxSizeMb }: Item,
): FileProblem | undefined {
  if (!acceptedMimeTypes.includes(typeOf(file))) return 'wrongType'
  if (file.size > maxSizeMb * 1_048_576) return 'tooLarge'
  return file.size === 0 ? 'empty' : undefined
}
