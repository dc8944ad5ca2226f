export { documentFaults, orphanedFiles, sweepDocuments } from './keeping.ts'
export type { LendingDocumentDeps } from './parts.ts'
export { putDocument, readDocument, readDocumentAsOperator, removeDocument } from './service.ts'
