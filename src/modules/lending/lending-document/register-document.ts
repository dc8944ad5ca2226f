/**
 * Whether the stores at hand are those that the documents of the database lie in. Two processes with a directory each would take documents
 * that the other does not find: each store has a mark, a file of random name, which the database knows.
 */
import { type DocumentStore, documentName, isOfPictures } from '../../../core/documents.ts'
import { AppError, OperatorError } from '../../../core/errors.ts'
import { isSilent } from './copy-documents.ts'
import type { LendingDocumentDeps } from './providers.ts'
import type { StoreVerdict } from './store.ts'

type Kind = DocumentStore['kind']
type StoresDeps = Pick<LendingDocumentDeps, 'lendingDocumentStore' | 'documentStores'>
type WatchDeps = StoresDeps & Pick<LendingDocumentDeps, 'storeVerdicts' | 'db' | 'clock' | 'config' | 'log' | 'randomBytes'>

/** A store that does not answer at the start of a server is looked at again while it serves. */
const startWaitsMs = 3_000
const retryAfterSeconds = 5

/** What is to be done where a store is another one: of `souk check`, and of a start that is refused. */
export function otherStoreText(kind: Kind, mark: string, { dataDir }: { readonly dataDir: string }): string {
  const [what, folder, settings] = isOfPictures(kind) ? ['pictures', 'media', 'MEDIA'] : ['documents', 'documents', 'DOCUMENTS']
  return kind === 'FILES' || kind === 'MEDIA_FILES'
    ? `The ${what} of this database are not in ${dataDir}/${folder}, which has no file ${mark}: DATA_DIR is another one, or its disk is not mounted. Processes of one database need one DATA_DIR, on a disk that they share, or a bucket (${settings}_S3_…). If you moved the ${what}, move all that is in that directory; if they are there and that file alone is not, make it, empty`
    : `The ${what} of this database are not in the bucket and under the prefix of the settings (${settings}_S3_…), where there is no object ${mark}. If you moved the ${what}, move all that is under the prefix; if they are there and that object alone is not, make it, empty`
}

/** The mark by which the database knows another store of this kind; undefined where it is this one, or none was ever used. Writes nothing. */
export async function otherThan({ lendingDocumentStore }: StoresDeps, store: DocumentStore): Promise<string | undefined> {
  const mark = await lendingDocumentStore.markOf(store.kind)
  return mark !== undefined && !(await store.get(mark)) ? mark : undefined
}

/** The stores that matter: where documents are put, where lending is on, and where some are; of pictures, once there are any. */
async function storesInUse({ lendingDocumentStore, documentStores: { current, of }, config }: WatchDeps): Promise<DocumentStore[]> {
  const holding: DocumentStore[] = []
  const documents = config.lendingPlatformEnabled ? (['FILES', 'S3'] as const) : []
  for (const kind of [...documents, 'MEDIA_FILES', 'MEDIA_S3'] as const) {
    const store = of(kind)
    if (store && (store === current || (await lendingDocumentStore.hasAny(kind)))) holding.push(store)
  }
  return holding
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
 * Of a server that starts. A store that is silent does not hold it up.
 * @throws OperatorError for stores that are not those of the database, saying what to do
 */
export async function confirmDocumentStores(deps: WatchDeps & Pick<LendingDocumentDeps, 'sleep'>): Promise<void> {
  const looking = lookAtAll(deps)
  looking.catch((error: unknown) => deps.log.warn('documents.not_looked_at', { error }))
  const isFar = deps.documentStores.of('S3') !== undefined || deps.documentStores.of('MEDIA_S3') !== undefined
  const [other] = await (isFar ? Promise.race([looking, deps.sleep(startWaitsMs).then((): string[] => [])]) : looking)
  if (other !== undefined) throw new OperatorError(other)
}

/** Of a server that serves: a directory that is there no more is noticed, and a bucket that was silent is asked again. */
export async function watchDocumentStores(deps: WatchDeps): Promise<void> {
  const documents = deps.config.lendingPlatformEnabled ? [deps.documentStores.current.kind] : []
  for (const kind of new Set([...documents, ...deps.storeVerdicts.keys()])) {
    const store = deps.documentStores.of(kind)
    const isNear = kind === 'FILES' || kind === 'MEDIA_FILES'
    if (store && (isNear || deps.storeVerdicts.get(kind) !== 'OWN')) await look(deps, store)
  }
}

/** Looks that are under way, by the verdicts of their process: of many who come first at once, one marks the store. */
const looking = new WeakMap<WatchDeps['storeVerdicts'], Promise<unknown>>()

/** Before a picture is put: the first one marks the store, and one that was silent, or another one, is looked at again. */
export async function watchPictureStore(deps: WatchDeps): Promise<void> {
  const { storeVerdicts: verdicts } = deps
  const store = deps.documentStores.pictures
  if (verdicts.get(store.kind) === 'OWN') return
  const under = looking.get(verdicts) ?? look(deps, store).finally(() => looking.delete(verdicts))
  looking.set(verdicts, under)
  await under
}

/** @throws AppError UNAVAILABLE where the documents of the database are known to be elsewhere */
export function assertOwn({ storeVerdicts }: Pick<LendingDocumentDeps, 'storeVerdicts'>, kind: Kind): void {
  if (storeVerdicts.get(kind) === 'OTHER')
    throw new AppError(
      'UNAVAILABLE',
      `The store of ${isOfPictures(kind) ? 'pictures' : 'documents'} is not at hand: nothing was changed, try again later`,
      { retryAfterSeconds },
    )
}
