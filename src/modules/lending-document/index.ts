export { type Copied, copyFiles, dropOthers, isSilent, type NamedFile } from './copying.ts'
export { countDocuments, type DocumentFault, documentFaults, orphanedFiles, sweepDocuments } from './keeping.ts'
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
