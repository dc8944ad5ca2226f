/** Looks for damage of the database's file. */
export { checkQuickly } from '../src/modules/operations/backup/index.ts'
