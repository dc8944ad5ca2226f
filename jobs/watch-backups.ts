/** Looks how old the last backup is, and makes one where it is late. */
export { watchBackups } from '../src/modules/operations/backup/index.ts'
