/** Checks the age of the last backup and makes one if it is late. */
export { watchBackups } from '../src/modules/operations/backup/index.ts'
