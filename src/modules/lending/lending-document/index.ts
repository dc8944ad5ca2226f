export type { SealedDocument } from './content.ts'
export {
  type Copied,
  copyFiles,
  dropOthers,
  isSilent,
  type Looked,
  type Looking,
  type NamedFile,
  nothingCopied,
  type PictureDigest,
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
export { assertOwn, confirmDocumentStores, otherStoreText, otherThan, watchDocumentStores, watchPictureStore } from './register-document.ts'
export { countDocuments, type DocumentFault, documentFaults, documentWithFile, orphanedFiles, sweepDocuments } from './retention.ts'
export { listDocuments, putDocument, readDocument, readDocumentAsOperator, removeDocument } from './service.ts'
