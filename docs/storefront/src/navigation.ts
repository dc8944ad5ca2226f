/** Links to pages, and the shop's collections, which the build writes into every page. */
import { meta } from './api.ts'

/** Data of the shop that the build writes into each page, to save a request. */
export type Navigation = {
  readonly collections: readonly {
    readonly handle: string
    readonly title: string
    readonly image: { url: string; alt: string | null } | null
  }[]
  /** Whether the shop has published a post. */
  readonly hasBlog: boolean
}

const written = meta('souk:navigation')
export const navigation: Navigation = written === '' ? { collections: [], hasBlog: false } : JSON.parse(written)

/** The relative path from this page to the storefront's root: `../` in a page of a folder. */
export const root = meta('souk:root')

/** Returns a link to a page; parameters without a value are left out. */
export function linkTo(page: string, parameters: Record<string, string | number | null | undefined> = {}): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== '')
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return `${root}${page}.html${query === '' ? '' : `?${query}`}`
}

/** Folders of rendered pages: one page for each record, named by its handle. */
export type Folder = 'products' | 'collections' | 'blog' | 'policies'

/** Returns the link to the rendered page of a record. */
export const recordLink = (folder: Folder, handle: string): string => linkTo(`${folder}/${encodeURIComponent(handle)}`)

/** Returns a parameter of this page; '' if there is none. */
export const parameter = (name: string): string => new URLSearchParams(location.search).get(name) ?? ''

/** The handle of this page's record: from the rendered page, otherwise from a parameter. */
export const pageHandle = (): string => meta('souk:handle') || parameter('handle')
