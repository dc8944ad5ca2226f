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
} from './copying.ts'
export { countDocuments, type DocumentFault, documentFaults, documentWithFile, orphanedFiles, sweepDocuments } from './keeping.ts'
export {
  createFileStore,
  type DocumentStores,
  documentStores,
  documentsDirectory,
  type LendingDocumentDeps,
  lendingDocumentParts,
  picturesDirectory,
} from './parts.ts'
export { assertOwn, confirmDocumentStores, otherStoreText, otherThan, watchDocumentStores, watchPictureStore } from './registering.ts'
export { listDocuments, putDocument, readDocument, readDocumentAsOperator, removeDocument } from './service.ts'
