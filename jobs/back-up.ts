/** Makes a backup in every backup target and removes expired ones. */
export { backUp } from '../src/modules/operations/backup/index.ts'
