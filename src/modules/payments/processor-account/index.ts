export { modeIn } from './account-fields.ts'
export {
  accountById,
  accountFor,
  accountsOfShop,
  accountsToVerify,
  clientOf,
  everyAccount,
  hasAccount,
  type VerifyingAccount,
} from './accounts.ts'
export { testConnection } from './connection.ts'
export { apiHost } from './domain.ts'
export { hostsIn, isComplete, settingsIn } from './instance.ts'
export { type Probed, probeAccounts } from './probe.ts'
export type { ProcessorAccountDeps } from './providers.ts'
export { listAccounts, putAccount, readAccount, removeAccount } from './service.ts'
