import type { AccountPageDeps } from '../account-page/index.ts'

export type StaffDeps = AccountPageDeps
