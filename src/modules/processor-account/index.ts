export { accountById, accountFor, accountsHearing, accountsOfShop, clientOf, everyAccount } from './accounts.ts'
export { hostsIn, isComplete, settingsIn } from './instance.ts'
export type { ProcessorAccountDeps } from './parts.ts'
export { putAccount, readAccount, removeAccount } from './service.ts'
