/** Asks the outside providers of the operations' pages anew. */
export { refreshOperations } from '../src/modules/platform/index.ts'
