export type { SealedDocument } from './content.ts'
export { type Copied, copyFiles, dropOthers, isSilent, type Looked, type Looking, type NamedFile, nothingCopied } from './copying.ts'
export { countDocuments, type DocumentFault, documentFaults, documentWithFile, orphanedFiles, sweepDocuments } from './keeping.ts'
export {
  createFileStore,
  type DocumentStores,
  documentStores,
  documentsDirectory,
  type LendingDocumentDeps,
  lendingDocumentParts,
} from './parts.ts'
export { confirmDocumentStores, otherStoreText, otherThan, watchDocumentStores } from './registering.ts'
export { putDocument, readDocument, readDocumentAsOperator, removeDocument } from './service.ts'
