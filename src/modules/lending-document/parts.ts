import { createFileStore } from '../../clients/documents/files.ts'
import { type DocumentStores, documentStores, documentsDirectory } from '../../clients/documents/stores.ts'
import type { Deps } from '../../core/deps.ts'
import type { LendingDeps } from '../lending/index.ts'
import { createLendingDocumentStore } from './store.ts'
import { createUploadSlots } from './upload-slots.ts'

export const lendingDocumentParts = ({ db, config, log, sleep }: Pick<Deps, 'db' | 'config' | 'log' | 'sleep'>) => ({
  lendingDocumentStore: createLendingDocumentStore(db),
  documentStores: documentStores(config, { log, sleep }),
  uploadSlots: createUploadSlots(),
})
export type LendingDocumentDeps = LendingDeps & ReturnType<typeof lendingDocumentParts>

/** For commands, which copy files from and to wherever the settings say. */
export { createFileStore, type DocumentStores, documentStores, documentsDirectory }
