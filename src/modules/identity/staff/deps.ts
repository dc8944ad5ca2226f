import type { AccountPageDeps } from '../../customers/account-page/index.ts'

export type StaffDeps = AccountPageDeps
