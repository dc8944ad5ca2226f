/**
 * Checks that the configured stores are those of this database. Processes with different directories would not find
 * each other's documents.
 * Each store holds a mark, a file with a random name that the database knows.
 */
import { type DocumentStore, documentName, isPictureStore } from '../../../core/documents.ts'
import { AppError, OperatorError } from '../../../core/errors.ts'
import { isStoreUnavailable } from './copy-documents.ts'
import type { LendingDocumentDeps } from './providers.ts'
import type { StoreVerdict } from './store.ts'

type Kind = DocumentStore['kind']
type StoresDeps = Pick<LendingDocumentDeps, 'lendingDocumentStore' | 'documentStores'>
type WatchDeps = StoresDeps & Pick<LendingDocumentDeps, 'storeVerdicts' | 'db' | 'clock' | 'config' | 'log' | 'randomBytes'>

/** A store that does not respond within this time is checked again later. */
const startWaitsMs = 3_000
const retryAfterSeconds = 5

/** Explains what to do about another store, for `souk check` and for a refused start. */
export function otherStoreText(kind: Kind, mark: string, { dataDir }: { readonly dataDir: string }): string {
  const [what, folder, settings] = isPictureStore(kind) ? ['pictures', 'media', 'MEDIA'] : ['documents', 'documents', 'DOCUMENTS']
  return kind === 'FILES' || kind === 'MEDIA_FILES'
    ? `The ${what} of this database are not in ${dataDir}/${folder}, which has no file ${mark}: DATA_DIR is another one, or its disk is not mounted. All processes of a database need the same DATA_DIR on a shared disk, or a bucket (${settings}_S3_…). If you moved the ${what}, move the whole directory. If only that file is missing, create it, empty`
    : `The ${what} of this database are not in the bucket and under the prefix of the settings (${settings}_S3_…), where there is no object ${mark}. If you moved the ${what}, move everything under the prefix. If only that object is missing, create it, empty`
}

/**
 * Returns the mark that the database expects and this store lacks; undefined if the store is right or none was used
 * yet. Writes nothing.
 */
export async function foreignMarkOf({ lendingDocumentStore }: StoresDeps, store: DocumentStore): Promise<string | undefined> {
  const mark = await lendingDocumentStore.markOf(store.kind)
  return mark !== undefined && !(await store.get(mark)) ? mark : undefined
}

/** Returns the stores to check: that of new documents if lending is on, and those that hold documents or pictures. */
async function storesInUse({ lendingDocumentStore, documentStores: { current, of }, config }: WatchDeps): Promise<DocumentStore[]> {
  const inUse: DocumentStore[] = []
  const documents = config.lendingPlatformEnabled ? (['FILES', 'S3'] as const) : []
  for (const kind of [...documents, 'MEDIA_FILES', 'MEDIA_S3'] as const) {
    const store = of(kind)
    if (store && (store === current || (await lendingDocumentStore.hasAny(kind)))) inUse.push(store)
  }
  return inUse
}

/** Marks a store that is the first of its kind. If another process was first, its mark stays. */
async function registerStore(deps: WatchDeps, store: DocumentStore): Promise<void> {
  const mark = documentName(deps.randomBytes)
  await store.put(mark, emptyFile())
  await deps.db.write((tx) => deps.lendingDocumentStore.register(tx, { kind: store.kind, mark, registeredAt: deps.clock.now() }))
}

async function* emptyFile(): AsyncGenerator<Uint8Array> {}

async function checkStore(deps: WatchDeps, store: DocumentStore): Promise<string | undefined> {
  const { kind } = store
  const note = (verdict: StoreVerdict) => {
    const before = deps.storeVerdicts.get(kind)
    deps.storeVerdicts.set(kind, verdict)
    return verdict !== before
  }
  try {
    if ((await deps.lendingDocumentStore.markOf(kind)) === undefined) await registerStore(deps, store)
    const mark = await foreignMarkOf(deps, store)
    if (note(mark === undefined ? 'OWN' : 'OTHER') && mark !== undefined)
      deps.log.error('documents.other_store', { kind, advice: otherStoreText(kind, mark, deps.config) })
    return mark === undefined ? undefined : otherStoreText(kind, mark, deps.config)
  } catch (error) {
    if (!isStoreUnavailable(error)) throw error
    note('SILENT')
    return undefined
  }
}

/**
 * Checks the stores in use and registers the first of each kind.
 * @returns the problems
 */
async function checkAllStores(deps: WatchDeps): Promise<string[]> {
  const problems: string[] = []
  for (const store of await storesInUse(deps)) {
    const problem = await checkStore(deps, store)
    if (problem !== undefined) problems.push(problem)
  }
  return problems
}

/**
 * Checks the stores at the start of a server. A store that does not respond does not delay the start.
 * @throws OperatorError for stores of another database, with what to do
 */
export async function confirmDocumentStores(deps: WatchDeps & Pick<LendingDocumentDeps, 'sleep'>): Promise<void> {
  const check = checkAllStores(deps)
  check.catch((error: unknown) => deps.log.warn('documents.store_check_failed', { error }))
  const isRemote = deps.documentStores.of('S3') !== undefined || deps.documentStores.of('MEDIA_S3') !== undefined
  const [problem] = await (isRemote ? Promise.race([check, deps.sleep(startWaitsMs).then((): string[] => [])]) : check)
  if (problem !== undefined) throw new OperatorError(problem)
}

/** Checks the stores of a running server again: directories always, buckets until they respond. */
export async function watchDocumentStores(deps: WatchDeps): Promise<void> {
  const documents = deps.config.lendingPlatformEnabled ? [deps.documentStores.current.kind] : []
  for (const kind of new Set([...documents, ...deps.storeVerdicts.keys()])) {
    const store = deps.documentStores.of(kind)
    const isLocal = kind === 'FILES' || kind === 'MEDIA_FILES'
    if (store && (isLocal || deps.storeVerdicts.get(kind) !== 'OWN')) await checkStore(deps, store)
  }
}

/** Running checks by the verdicts of their process, so that concurrent first pictures mark the store once. */
const runningChecks = new WeakMap<WatchDeps['storeVerdicts'], Promise<unknown>>()

/** Checks the picture store before a picture is stored, unless the last check succeeded. */
export async function watchPictureStore(deps: WatchDeps): Promise<void> {
  const { storeVerdicts: verdicts } = deps
  const store = deps.documentStores.pictures
  if (verdicts.get(store.kind) === 'OWN') return
  const running = runningChecks.get(verdicts) ?? checkStore(deps, store).finally(() => runningChecks.delete(verdicts))
  runningChecks.set(verdicts, running)
  await running
}

/** @throws AppError UNAVAILABLE if the store belongs to another database */
export function assertStoreIsOwn({ storeVerdicts }: Pick<LendingDocumentDeps, 'storeVerdicts'>, kind: Kind): void {
  if (storeVerdicts.get(kind) === 'OTHER')
    throw new AppError(
      'UNAVAILABLE',
      `The ${isPictureStore(kind) ? 'picture' : 'document'} storage is not available: nothing was changed, try again later`,
      { retryAfterSeconds },
    )
}
