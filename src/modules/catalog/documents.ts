import type { Deps } from '../../deps.ts'
import type { CatalogStore, StoredDocument } from './store.ts'

/** The public documents that were asked for lately. Where the engine cannot tell of others' commits, nothing is kept. */
export type Documents = {
  find(id: string): StoredDocument | undefined | Promise<StoredDocument | undefined>
  /** The same, if it can be said at once. */
  findNow(id: string): StoredDocument | undefined
  /** The product changed: called after the commit, before anybody is told of it. */
  forget(id: string): void
}

const documentsMax = 20_000
const charactersMax = 8_000_000

export function createDocuments({ db, catalogStore }: Pick<Deps, 'db'> & { catalogStore: CatalogStore }): Documents {
  const kept = new Map<string, StoredDocument>()
  let characters = 0
  let seenForeign = db.foreignVersion()

  function forget(id: string): void {
    characters -= kept.get(id)?.document.length ?? 0
    kept.delete(id)
  }

  function keep(id: string, found: StoredDocument): void {
    kept.set(id, found)
    characters += found.document.length
    for (const oldest of kept.keys()) {
      if (kept.size <= documentsMax && characters <= charactersMax) break
      forget(oldest)
    }
  }

  function findNow(id: string): StoredDocument | undefined {
    const foreign = db.foreignVersion()
    if (foreign === undefined) return undefined
    if (foreign !== seenForeign) {
      kept.clear()
      characters = 0
      seenForeign = foreign
    }
    const known = kept.get(id)
    if (known) return known
    // SQLite answers at once, so that no commit comes between the read and the keeping of it.
    const found = catalogStore.findDocument(id)
    if (!found || found instanceof Promise) return undefined
    keep(id, found)
    return found
  }

  return { findNow, forget, find: (id) => findNow(id) ?? catalogStore.findDocument(id) }
}
