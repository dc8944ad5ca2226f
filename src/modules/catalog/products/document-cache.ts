import { createCache } from '../../../core/cache.ts'
import type { Deps } from '../../../core/deps.ts'
import { digestOf } from '../../../lib/digest.ts'
import { baseOf, withPictureAddresses } from '../media/index.ts'
import type { CatalogStore, StoredDocument } from './store.ts'
import { boundedDocument } from './summary.ts'

/** A public document as it was read. The text is kept while there is room. */
export type KeptDocument = Omit<StoredDocument, 'document'> & { document: string | undefined }

/** The public documents that were asked for lately. Where the engine cannot tell of others' commits, nothing is kept. */
export type Documents = {
  find(id: string): StoredDocument | undefined | Promise<StoredDocument | undefined>
  /** What is kept of a document, read if need be; undefined if that cannot be said at once. */
  keptNow(id: string): KeptDocument | undefined
  /** Its text; undefined when it changed since. */
  textOf(id: string, kept: KeptDocument): string | undefined
  /** The product changed: called after the commit, before anybody is told of it. */
  forget(id: string): void
  /** The same for all products of a shop. */
  forgetOf(shopId: string): void
}

const documentsMax = 20_000
const charactersMax = 13_000_000
/** Once the room is taken, one text in so many makes room for itself: asked for in turn, all would push each other out in vain. */
const admitOneIn = 64

/** The documents of one process: bounded by number and by characters of text. Those that show pictures have their addresses, and an ETag of these. */
export function createDocuments(deps: Pick<Deps, 'db' | 'config' | 'life'> & { catalogStore: CatalogStore }): Documents {
  const { db, catalogStore } = deps

  const bounds = { version: db.foreignVersion, entriesMax: documentsMax }
  /** Those of `kept` whose text is there. */
  const withText = createCache<KeptDocument>({
    ...bounds,
    charactersMax,
    charactersOf: ({ document }) => document?.length ?? 0,
    dropped: (held) => {
      held.document = undefined
    },
  })
  const kept = createCache<KeptDocument>({ ...bounds, dropped: (_, id) => withText.forget(id) })

  function withAddresses(found: StoredDocument): StoredDocument {
    const bounded = boundedDocument(found.document)
    const document = withPictureAddresses(deps, bounded)
    if (document === bounded) return { ...found, document }
    return { ...found, document, etag: `${found.etag.slice(0, -1)}-${digestOf(baseOf(deps)).slice(0, 8)}"` }
  }

  // SQLite answers at once, so that no commit comes between the read and the keeping of it.
  function read(id: string): StoredDocument | undefined {
    const found = catalogStore.findDocument(id)
    return found instanceof Promise || !found ? undefined : withAddresses(found)
  }

  let misses = 0
  function keepText(id: string, held: KeptDocument, text: string): void {
    if (!withText.hasRoom(text.length) && ++misses % admitOneIn !== 0) return
    held.document = text
    if (!withText.keep(id, held)) held.document = undefined
  }

  function keptNow(id: string): KeptDocument | undefined {
    const known = kept.get(id)
    if (known || !kept.isOn()) return known
    const found = read(id)
    // With quantities it is another after every order.
    if (!found || found.showQuantity) return undefined
    const { etag, visibleFrom, shopId, document } = found
    const held: KeptDocument = { etag, visibleFrom, shopId, showQuantity: false, document: undefined }
    kept.keep(id, held)
    keepText(id, held, document)
    return held
  }

  function textOf(id: string, held: KeptDocument): string | undefined {
    if (held.document !== undefined) return held.document
    const found = read(id)
    // Another process may have committed since `held` was read: its mark must not go out with a newer text.
    if (found?.etag !== held.etag) return undefined
    keepText(id, held, found.document)
    return found.document
  }

  return {
    keptNow,
    textOf,
    forget: (id) => kept.forget(id),
    forgetOf: (shopId) => kept.forgetWhere((held) => held.shopId === shopId),
    find(id) {
      const held = keptNow(id)
      const document = held && textOf(id, held)
      if (held && document !== undefined) return { ...held, document }
      const found = catalogStore.findDocument(id)
      return found instanceof Promise ? found.then((one) => one && withAddresses(one)) : found && withAddresses(found)
    },
  }
}
