/**
 * The merchant's statement about the documents. Its form is free except for its size and its items.
 */
import { invalidField } from '../../../core/errors.ts'
import { uploadedStatus } from './checklist.ts'
import type { Documentation } from './domain.ts'

/** The size limit as JSON, in bytes. */
export const documentationBytesMax = 64 * 1024
export const documentationDepthMax = 5

const field = 'documentationCompleted'
const invalid = (path: string, rule: string) => invalidField(`${[field, path].filter(Boolean).join('.')}`, rule)

/**
 * Validates the documentation of a request.
 * @throws AppError INVALID with the path: too large, too deep, a malformed item or a repeated key
 */
export function parseDocumentation(input: Record<string, unknown>): Documentation {
  if (Buffer.byteLength(JSON.stringify(input)) > documentationBytesMax)
    throw invalid('', `must not be larger than ${documentationBytesMax / 1024} KB`)
  if (isDeeper(input, documentationDepthMax)) throw invalid('', `must not be nested deeper than ${documentationDepthMax} levels`)
  const { items } = input
  if (items === undefined) return input as Documentation
  if (!Array.isArray(items)) throw invalid('items', 'must be a list')
  const keys = new Set<string>()
  items.forEach((item: unknown, index) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) throw invalid(`items.${index}`, 'must be an object')
    const { key, status } = item as Record<string, unknown>
    if (typeof key !== 'string') throw invalid(`items.${index}.key`, 'must be a string')
    if (typeof status !== 'string') throw invalid(`items.${index}.status`, 'must be a string')
    if (keys.size === keys.add(key).size) throw invalid(`items.${index}.key`, 'must not be repeated')
  })
  return input as Documentation
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) return value.some((entry) => isDeeper(entry, levels - 1))
  for (const name in value) if (isDeeper((value as Record<string, unknown>)[name], levels - 1)) return true
  return false
}

/**
 * Marks the documents that have a file as uploaded and keeps everything else.
 * @returns null only if there was no documentation and `keys` is empty
 */
export function markUploaded(documentation: Documentation | null, keys: readonly string[]): Documentation | null {
  if (keys.length === 0) return documentation
  const items = documentation?.items ?? []
  const existingKeys = new Set(items.map(({ key }) => key))
  const marked = items.map((item) => (keys.includes(item.key) ? { ...item, status: uploadedStatus } : item))
  const added = keys.filter((key) => !existingKeys.has(key)).map((key) => ({ key, status: uploadedStatus }))
  return { ...documentation, items: [...marked, ...added] }
}

const removedStatus = 'REMOVED'

/** Marks the item of a document whose file was removed. */
export const markRemoved = (documentation: Documentation | null, key: string): Documentation | null =>
  documentation && {
    ...documentation,
    items: (documentation.items ?? []).map((item) =>
      item.key === key && item.status === uploadedStatus ? { ...item, status: removedStatus } : item,
    ),
  }
