export { accountById, accountFor, accountsHearing, accountsOfShop, clientOf, everyAccount } from './accounts.ts'
export { hostsIn } from './instance.ts'
export type { ProcessorAccountDeps } from './parts.ts'
