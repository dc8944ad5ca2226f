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
  documentStores,
  documentsDirectory,
  type LendingDocumentDeps,
  lendingDocumentProviders,
  picturesDirectory,
} from './providers.ts'
export { countDocuments, documentFaults, findDocumentByFile, orphanedFiles, sweepDocuments } from './retention.ts'
export { listDocuments, putDocument, readDocument, readDocumentAsOperator, removeDocument } from './service.ts'
export {
  assertStoreIsOwn,
  confirmDocumentStores,
  foreignMarkOf,
  otherStoreText,
  watchDocumentStores,
  watchPictureStore,
} from './store-registry.ts'
