import { createCache } from '../../../core/cache.ts'
import type { Deps } from '../../../core/deps.ts'
import { sha256 } from '../../../lib/seal.ts'
import { baseOf, withPictureUrls } from '../media/index.ts'
import type { CatalogStore, StoredDocument } from './store.ts'
import { shortenDocument } from './summary.ts'

/** A public document as it was read. The text is dropped when the cache is full. */
type CachedDocument = Omit<StoredDocument, 'document'> & { document: string | undefined }

/** Caches public documents. Disabled if the engine cannot detect commits of other processes. */
type DocumentCache = {
  find(id: string): StoredDocument | undefined | Promise<StoredDocument | undefined>
  /** Returns the entry, reading it if necessary. Undefined if it cannot be read synchronously. */
  findCached(id: string): CachedDocument | undefined
  /** Returns the text; undefined if it changed since the entry was read. */
  textOf(id: string, cached: CachedDocument): string | undefined
  /** Invalidates a product. Call it after the commit, before others learn of the change. */
  invalidate(id: string): void
  /** Invalidates all products of a shop. */
  invalidateShop(shopId: string): void
}

const documentsMax = 20_000
const charactersMax = 13_000_000
/**
 * When the cache is full, only one text in so many replaces others. Sequential reads would otherwise evict everything.
 */
const admitOneIn = 64

/**
 * Creates the cache of a process, bounded by entries and characters. Adds picture URLs to documents and to their ETags.
 */
export function createDocumentCache(deps: Pick<Deps, 'db' | 'config' | 'life'> & { catalogStore: CatalogStore }): DocumentCache {
  const { db, catalogStore } = deps

  const bounds = { version: db.foreignVersion, entriesMax: documentsMax }
  /** The entries that have their text. */
  const withText = createCache<CachedDocument>({
    ...bounds,
    charactersMax,
    charactersOf: ({ document }) => document?.length ?? 0,
    onEvict: (cached) => {
      cached.document = undefined
    },
  })
  const entries = createCache<CachedDocument>({ ...bounds, onEvict: (_, id) => withText.delete(id) })

  function withCurrentUrls(found: StoredDocument): StoredDocument {
    const bounded = shortenDocument(found.document)
    const document = withPictureUrls(deps, bounded)
    if (document === bounded) return { ...found, document }
    return { ...found, document, etag: `${found.etag.slice(0, -1)}-${sha256(baseOf(deps)).slice(0, 8)}"` }
  }

  // SQLite reads synchronously, so no commit comes between the read and the caching.
  function read(id: string): StoredDocument | undefined {
    const found = catalogStore.findDocument(id)
    return found instanceof Promise || !found ? undefined : withCurrentUrls(found)
  }

  let misses = 0
  function cacheText(id: string, cached: CachedDocument, text: string): void {
    if (!withText.hasRoom(text.length) && ++misses % admitOneIn !== 0) return
    cached.document = text
    if (!withText.set(id, cached)) cached.document = undefined
  }

  function findCached(id: string): CachedDocument | undefined {
    const cached = entries.get(id)
    if (cached || !entries.isEnabled()) return cached
    const found = read(id)
    // With quantities the document changes with every order.
    if (!found || found.showQuantity) return undefined
    const { etag, visibleFrom, shopId, origins, document } = found
    const entry: CachedDocument = { etag, visibleFrom, shopId, origins, showQuantity: false, document: undefined }
    entries.set(id, entry)
    cacheText(id, entry, document)
    return entry
  }

  function textOf(id: string, cached: CachedDocument): string | undefined {
    if (cached.document !== undefined) return cached.document
    const found = read(id)
    // Another process may have committed since `cached` was read. Its ETag must not be sent with a newer text.
    if (found?.etag !== cached.etag) return undefined
    cacheText(id, cached, found.document)
    return found.document
  }

  return {
    findCached,
    textOf,
    invalidate: (id) => entries.delete(id),
    invalidateShop: (shopId) => entries.deleteWhere((cached) => cached.shopId === shopId),
    find(id) {
      const cached = findCached(id)
      const document = cached && textOf(id, cached)
      if (cached && document !== undefined) return { ...cached, document }
      const found = catalogStore.findDocument(id)
      return found instanceof Promise ? found.then((one) => one && withCurrentUrls(one)) : found && withCurrentUrls(found)
    },
  }
}
