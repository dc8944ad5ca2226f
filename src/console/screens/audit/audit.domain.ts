/** Filters and changes of audit rows. */

export const filterNames = ['actor', 'action', 'subject', 'shopId'] as const
export type FilterName = (typeof filterNames)[number]

const idPattern = /^([a-z]+)_[0-9a-z]+$/

type Values = Readonly<Record<string, unknown>> | null
/** A changed field; undefined if it was added or removed. */
type Difference = { readonly name: string; readonly before: string | undefined; readonly after: string | undefined }

/** Returns the changed fields in the API's order. */
export function differencesOf({ before, after }: { readonly before: Values; readonly after: Values }): readonly Difference[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return names.map((name) => ({ name, before: textOf(before, name), after: textOf(after, name) }))
}

function textOf(values: Values, name: string): string | undefined {
  const value = values?.[name]
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Operator pages by id prefix. */
const pages: Readonly<Record<string, string>> = {
  shop: 'shops',
  kyb: 'kyb',
  loan: 'lending',
  lend: 'lenders',
  prov: 'providers',
  meth: 'methodologies',
  wal: 'wallets',
}

/** Returns the operator page of a subject, below /console; undefined if there is none. */
export function pageOf(subject: string): string | undefined {
  const prefix = idPattern.exec(subject)?.[1] ?? ''
  return Object.hasOwn(pages, prefix) ? `/net/${pages[prefix]}/${subject}` : undefined
}
