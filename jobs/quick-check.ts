/** Checks the database file for damage. */
export { quickCheck } from '../src/modules/operations/backup/index.ts'
