/** Makes a backup in every place that the settings name, and removes those that the rule of retention does not keep. */
export { backUp } from '../src/modules/operations/backup/index.ts'
