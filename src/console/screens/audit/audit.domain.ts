/** By what of a row the audit trail is narrowed, and what of it differs. */

export const filterNames = ['actor', 'action', 'subject', 'shopId'] as const
export type FilterName = (typeof filterNames)[number]

const idOf = /^([a-z]+)_[0-9a-z]+$/

type Values = Readonly<Record<string, unknown>> | null
/** A field, with what it was and what it is; undefined where it was not there, or is not any more. */
export type Difference = { readonly name: string; readonly before: string | undefined; readonly after: string | undefined }

/** What of a subject changed, field by field, in the order in which the API says it. */
export function differencesOf({ before, after }: { readonly before: Values; readonly after: Values }): readonly Difference[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return names.map((name) => ({ name, before: textOf(before, name), after: textOf(after, name) }))
}

function textOf(values: Values, name: string): string | undefined {
  const value = values?.[name]
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Where the operator's pages show a record. */
const ofNetwork: Readonly<Record<string, string>> = {
  shop: 'shops',
  kyb: 'kyb',
  loan: 'lending',
  lend: 'lenders',
  prov: 'providers',
  meth: 'methodologies',
  wal: 'wallets',
}

/** The page that shows what something was done to, below /console; undefined where there is none for operators. */
export function pageOf(subject: string): string | undefined {
  const prefix = idOf.exec(subject)?.[1] ?? ''
  return Object.hasOwn(ofNetwork, prefix) ? `/net/${ofNetwork[prefix]}/${subject}` : undefined
}
