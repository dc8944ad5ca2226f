/**
 * Whether the stores at hand are those that the documents of the database lie in. Two processes with a directory each would take documents
 * that the other does not find: each store has a mark, a file of random name, which the database knows.
 */
import { type DocumentStore, documentName } from '../../core/documents.ts'
import { AppError, OperatorError } from '../../core/errors.ts'
import { isSilent } from './copying.ts'
import type { LendingDocumentDeps } from './parts.ts'
import type { StoreVerdict } from './store.ts'

type Kind = DocumentStore['kind']
type StoresDeps = Pick<LendingDocumentDeps, 'lendingDocumentStore' | 'documentStores'>
type WatchDeps = StoresDeps & Pick<LendingDocumentDeps, 'storeVerdicts' | 'db' | 'clock' | 'config' | 'log' | 'randomBytes'>

/** A store that does not answer at the start of a server is looked at again while it serves. */
const startWaitsMs = 3_000
const retryAfterSeconds = 5

/** What is to be done where a store is another one: of `souk check`, and of a start that is refused. */
export const otherStoreText = (kind: Kind, mark: string, { dataDir }: { readonly dataDir: string }): string =>
  kind === 'FILES'
    ? `The documents of this database are not in ${dataDir}/documents, which has no file ${mark}: DATA_DIR is another one, or its disk is not mounted. Processes of one database need one DATA_DIR, on a disk that they share, or a bucket (DOCUMENTS_S3_…). If you moved the documents, move all that is in that directory; if they are there and that file alone is not, make it, empty`
    : `The documents of this database are not in the bucket and under the prefix of the settings (DOCUMENTS_S3_…), where there is no object ${mark}. If you moved the documents, move all that is under the prefix; if they are there and that object alone is not, make it, empty`

/** The mark by which the database knows another store of this kind; undefined where it is this one, or none was ever used. Writes nothing. */
export async function otherThan({ lendingDocumentStore }: StoresDeps, store: DocumentStore): Promise<string | undefined> {
  const mark = await lendingDocumentStore.markOf(store.kind)
  return mark !== undefined && !(await store.get(mark)) ? mark : undefined
}

/** The stores that matter: where documents are put, and where some are. */
async function storesInUse({ lendingDocumentStore, documentStores: { current, of } }: StoresDeps): Promise<DocumentStore[]> {
  const before = of(current.kind === 'S3' ? 'FILES' : 'S3')
  return before && (await lendingDocumentStore.hasAny(before.kind)) ? [current, before] : [current]
}

/** Puts a mark into a store that the database knows none of, and lets the database know it. Another process may have been first. */
async function register(deps: WatchDeps, store: DocumentStore): Promise<void> {
  const mark = documentName(deps.randomBytes)
  await store.put(mark, nothing())
  await deps.db.write((tx) => deps.lendingDocumentStore.register(tx, { kind: store.kind, mark, registeredAt: deps.clock.now() }))
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function look(deps: WatchDeps, store: DocumentStore): Promise<string | undefined> {
  const { kind } = store
  const note = (verdict: StoreVerdict) => {
    const before = deps.storeVerdicts.get(kind)
    deps.storeVerdicts.set(kind, verdict)
    return verdict !== before
  }
  try {
    if ((await deps.lendingDocumentStore.markOf(kind)) === undefined) await register(deps, store)
    const mark = await otherThan(deps, store)
    if (note(mark === undefined ? 'OWN' : 'OTHER') && mark !== undefined)
      deps.log.error('documents.other_store', { kind, advice: otherStoreText(kind, mark, deps.config) })
    return mark === undefined ? undefined : otherStoreText(kind, mark, deps.config)
  } catch (error) {
    if (!isSilent(error)) throw error
    note('SILENT')
    return undefined
  }
}

/** Looks at the stores in use, and registers one that is the first of its kind. @returns what is wrong with them, in words */
async function lookAtAll(deps: WatchDeps): Promise<string[]> {
  const found: string[] = []
  for (const store of await storesInUse(deps)) {
    const wrong = await look(deps, store)
    if (wrong !== undefined) found.push(wrong)
  }
  return found
}

/**
 * Of a server that starts, where lending is on. A store that is silent does not hold it up.
 * @throws OperatorError for stores that are not those of the database, saying what to do
 */
export async function confirmDocumentStores(deps: WatchDeps & Pick<LendingDocumentDeps, 'sleep'>): Promise<void> {
  if (!deps.config.lendingPlatformEnabled) return
  const looking = lookAtAll(deps)
  looking.catch((error: unknown) => deps.log.warn('documents.not_looked_at', { error }))
  const isFar = deps.documentStores.of('S3') !== undefined
  const [other] = await (isFar ? Promise.race([looking, deps.sleep(startWaitsMs).then((): string[] => [])]) : looking)
  if (other !== undefined) throw new OperatorError(other)
}

/** Of a server that serves: a directory that is there no more is noticed, and a bucket that was silent is asked again. */
export async function watchDocumentStores(deps: WatchDeps): Promise<void> {
  if (!deps.config.lendingPlatformEnabled) return
  for (const kind of new Set([deps.documentStores.current.kind, ...deps.storeVerdicts.keys()])) {
    const store = deps.documentStores.of(kind)
    if (store && (kind === 'FILES' || deps.storeVerdicts.get(kind) !== 'OWN')) await look(deps, store)
  }
}

/** @throws AppError UNAVAILABLE where the documents of the database are known to be elsewhere */
export function assertOwn({ storeVerdicts }: Pick<LendingDocumentDeps, 'storeVerdicts'>, kind: Kind): void {
  if (storeVerdicts.get(kind) === 'OTHER')
    throw new AppError('UNAVAILABLE', 'The store of documents is not at hand: nothing was changed, try again later', { retryAfterSeconds })
}
