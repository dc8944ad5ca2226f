import { createFileStore } from '../../../clients/documents/files.ts'
import { type DocumentStores, documentStores, documentsDirectory, picturesDirectory } from '../../../clients/documents/stores.ts'
import type { Deps } from '../../../core/deps.ts'
import type { DocumentStore } from '../../../core/documents.ts'
import { createSemaphore } from '../../../core/limits/semaphore.ts'
import type { LendingDeps } from '../application/index.ts'
import { createLendingDocumentStore, type StoreVerdict } from './store.ts'

const tooManyUploads = 'Too many documents are being uploaded'

export const lendingDocumentProviders = ({ db, config, log, sleep }: Pick<Deps, 'db' | 'config' | 'log' | 'sleep'>) => ({
  lendingDocumentStore: createLendingDocumentStore(db),
  documentStores: documentStores(config, { log, sleep }),
  /** Slots of uploads, weighted with the most bytes that they may write. */
  documentUploadSlots: createSemaphore({ perOwner: 4, total: 32, refusals: { ofOwner: () => tooManyUploads, ofAll: tooManyUploads } }),
  /** The last result of checking each store in use. */
  storeVerdicts: new Map<DocumentStore['kind'], StoreVerdict>(),
})
export type LendingDocumentDeps = LendingDeps & ReturnType<typeof lendingDocumentProviders>

/** For commands, which copy files between any configured stores. */
export { createFileStore, type DocumentStores, documentStores, documentsDirectory, picturesDirectory }
