/** Looks for damage of the database's file. */
export { quickCheck } from '../src/modules/operations/backup/index.ts'
