/** Named views of a list: filters, sort order and columns, as its URL holds them. The browser stores them per shop. */
import { readStored, writeStored } from './browser-storage.ts'

export type SavedView = { readonly name: string; readonly query: string }

const viewsMax = 20
const storageKey = (path: string): string => `souk-console-views:${path}`

/** Returns the part of a URL's query that a view stores: everything except the page, in one order. */
export function viewQuery(query: Readonly<Record<string, string>>): string {
  const parameters = Object.entries(query).filter(([name, value]) => name !== 'page' && value !== '')
  return new URLSearchParams(parameters.sort(([one], [other]) => (one < other ? -1 : 1))).toString()
}

/** Returns the views of a list. @param path the list's path, which names its shop */
export function readViews(path: string): readonly SavedView[] {
  try {
    const stored: unknown = JSON.parse(readStored('localStorage', storageKey(path)) ?? '[]')
    return Array.isArray(stored) ? stored.filter(isView).slice(0, viewsMax) : []
  } catch {
    return []
  }
}

const isView = (value: unknown): value is SavedView => {
  const { name, query } = Object(value) as Partial<Record<keyof SavedView, unknown>>
  return typeof name === 'string' && typeof query === 'string'
}

/** Adds a view, in place of one with the same name. The oldest ones are dropped above the limit. */
export const addView = (views: readonly SavedView[], view: SavedView): readonly SavedView[] =>
  [...views.filter(({ name }) => name !== view.name), view].slice(-viewsMax)

/** @returns whether the browser stored them */
export const storeViews = (path: string, views: readonly SavedView[]): boolean =>
  writeStored('localStorage', storageKey(path), JSON.stringify(views))
