/** Looks for damage of the database's file. */
export { checkQuickly } from '../src/modules/backup/index.ts'
