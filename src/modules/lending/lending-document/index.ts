export type { SealedDocument } from './content.ts'
export {
  type CopyResult,
  copyFiles,
  emptyCopyResult,
  isStoreUnavailable,
  type NamedFile,
  type PictureDigest,
  removeOtherFiles,
  type Verification,
  type VerificationResult,
} from './copy-documents.ts'
export {
  createFileStore,
  type DocumentStores,
  documentStores,
  documentsDirectory,
  type LendingDocumentDeps,
  lendingDocumentProviders,
  picturesDirectory,
} from './providers.ts'
export { countDocuments, type DocumentFault, documentFaults, findDocumentByFile, orphanedFiles, sweepDocuments } from './retention.ts'
export { listDocuments, putDocument, readDocument, readDocumentAsOperator, removeDocument } from './service.ts'
export {
  assertStoreIsOwn,
  confirmDocumentStores,
  foreignMarkOf,
  otherStoreText,
  watchDocumentStores,
  watchPictureStore,
} from './store-registry.ts'
