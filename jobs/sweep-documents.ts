/** Removes files that belong to no document of a lending application, once they are a day old. */
export { sweepDocuments } from '../src/modules/lending-document/index.ts'
