import type { Deps } from '../../core/deps.ts'
import type { CatalogStore, StoredDocument } from './store.ts'

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
}

const documentsMax = 20_000
const charactersMax = 13_000_000
/** Once the room is taken, one text in so many makes room for itself: replacing at every miss would cost more than it saves. */
const admitOneIn = 64

/** The documents of one process: bounded by number and by characters of text. */
export function createDocuments({ db, catalogStore }: Pick<Deps, 'db'> & { catalogStore: CatalogStore }): Documents {
  const kept = new Map<string, KeptDocument>()
  /** Those of `kept` whose text is there, oldest first. */
  const texts = new Map<string, KeptDocument>()
  let characters = 0
  let misses = 0
  let seenForeign = db.foreignVersion()

  function dropText(id: string): void {
    const held = texts.get(id)
    if (held?.document === undefined) return
    characters -= held.document.length
    held.document = undefined
    texts.delete(id)
  }

  function forget(id: string): void {
    dropText(id)
    kept.delete(id)
  }

  /** False where the engine cannot tell. A commit of another process may have changed anything: all is forgotten. */
  function refresh(): boolean {
    const foreign = db.foreignVersion()
    if (foreign === undefined) return false
    if (foreign !== seenForeign) {
      seenForeign = foreign
      kept.clear()
      texts.clear()
      characters = 0
    }
    return true
  }

  // SQLite answers at once, so that no commit comes between the read and the keeping of it.
  function read(id: string): StoredDocument | undefined {
    const found = catalogStore.findDocument(id)
    return found instanceof Promise ? undefined : found
  }

  function keepText(id: string, held: KeptDocument, text: string): void {
    if (characters + text.length > charactersMax) {
      if (++misses % admitOneIn !== 0) return
      for (const oldest of texts.keys()) {
        if (characters + text.length <= charactersMax) break
        dropText(oldest)
      }
    }
    held.document = text
    texts.set(id, held)
    characters += text.length
  }

  function keptNow(id: string): KeptDocument | undefined {
    if (!refresh()) return undefined
    const known = kept.get(id)
    if (known) return known
    const found = read(id)
    if (!found) return undefined
    if (kept.size >= documentsMax) forget(kept.keys().next().value ?? '')
    const { etag, visible_from, shop_id, document } = found
    const held: KeptDocument = { etag, visible_from, shop_id, document: undefined }
    kept.set(id, held)
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
    forget,
    find(id) {
      const held = keptNow(id)
      const document = held && textOf(id, held)
      return held && document !== undefined ? { ...held, document } : catalogStore.findDocument(id)
    },
  }
}
