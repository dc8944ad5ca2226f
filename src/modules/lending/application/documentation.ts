/** What merchants say of their documents: free in its form, but for its size and its items (contract, section 6). */
import { AppError } from '../../../core/errors.ts'
import { uploaded } from './checklist.ts'
import type { Documentation } from './domain.ts'

/** As JSON. */
export const documentationBytesMax = 64 * 1024
export const documentationDepthMax = 5

const field = 'documentationCompleted'
const invalid = (path: string, rule: string) => new AppError('INVALID', `${[field, path].filter(Boolean).join('.')} (body): ${rule}`)

/**
 * What was sent, once it is known to be what it has to be.
 * @param sent an object
 * @throws AppError INVALID, naming the place, for one that is too large or too deep, and for items that are none or have a key twice
 */
export function documentationOf(sent: Record<string, unknown>): Documentation {
  if (Buffer.byteLength(JSON.stringify(sent)) > documentationBytesMax) throw invalid('', `larger than ${documentationBytesMax / 1024} KB`)
  if (isDeeper(sent, documentationDepthMax)) throw invalid('', `nested deeper than ${documentationDepthMax} levels`)
  const { items } = sent
  if (items === undefined) return sent as Documentation
  if (!Array.isArray(items)) throw invalid('items', 'Expected array')
  const keys = new Set<string>()
  items.forEach((item: unknown, at) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) throw invalid(`items.${at}`, 'Expected object')
    const { key, status } = item as Record<string, unknown>
    if (typeof key !== 'string') throw invalid(`items.${at}.key`, 'Expected string')
    if (typeof status !== 'string') throw invalid(`items.${at}.status`, 'Expected string')
    if (keys.size === keys.add(key).size) throw invalid(`items.${at}.key`, 'each key once')
  })
  return sent as Documentation
}

/** Whether objects and lists stand in each other more than so many times. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) return value.some((one) => isDeeper(one, levels - 1))
  for (const name in value) if (isDeeper((value as Record<string, unknown>)[name], levels - 1)) return true
  return false
}

/**
 * The same with these documents marked as handed in, because there is a file of each: whatever it says of them otherwise, it goes on
 * saying all else.
 * @returns null only where there was nothing and there is no file
 */
export function withUploaded(said: Documentation | null, keys: readonly string[]): Documentation | null {
  if (keys.length === 0) return said
  const items = said?.items ?? []
  const known = new Set(items.map(({ key }) => key))
  const marked = items.map((item) => (keys.includes(item.key) ? { ...item, status: uploaded } : item))
  const added = keys.filter((key) => !known.has(key)).map((key) => ({ key, status: uploaded }))
  return { ...said, items: [...marked, ...added] }
}

/** Marks a document that was taken back. */
const removed = 'REMOVED'

/** The same once the file of a document was taken back. */
export const withoutUploaded = (said: Documentation | null, key: string): Documentation | null =>
  said && {
    ...said,
    items: (said.items ?? []).map((item) => (item.key === key && item.status === uploaded ? { ...item, status: removed } : item)),
  }
