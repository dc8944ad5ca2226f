import type { lenderStatusHistory, lenders } from '../../../../db/schema/lending.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { assertReachable, statesOf, type Transitions } from '../../../lib/transitions.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'
import { type Wallet, walletView } from '../../trust/fabric/domain.ts'

export type Lender = typeof lenders.$inferSelect
export type LenderStatus = Lender['status']
export type LenderStatusEntry = typeof lenderStatusHistory.$inferSelect

export const lenderTransitions = assertReachable('PENDING_KYB', {
  PENDING_KYB: ['ACTIVE', 'ARCHIVED'],
  ACTIVE: ['SUSPENDED'],
  SUSPENDED: ['ACTIVE', 'ARCHIVED'],
  ARCHIVED: [],
} as const satisfies Transitions<LenderStatus>)
export const lenderStatuses = statesOf(lenderTransitions)

export const displayNameMax = 200

/** Returns the difference for the audit trail. All of it is public. */
export const lenderDifference = (
  before: (Lender & { wallets: readonly Wallet[] }) | undefined,
  after: Lender & { wallets: readonly Wallet[] },
): Difference => differenceOf(before && withWallets(before), withWallets(after), ['displayName', 'status', 'wallets'])
const withWallets = ({ wallets, ...lender }: Lender & { wallets: readonly Wallet[] }) => ({
  ...lender,
  ...(wallets.length > 0 ? { wallets: wallets.map(walletView) } : {}),
})

/** Renders a lender as operators see it. The history is in order. */
export const lenderView = (lender: Lender, history: readonly LenderStatusEntry[], wallets: readonly Wallet[]) => ({
  ...pick(lender, 'id', 'displayName', 'status'),
  wallets: wallets.map(walletView),
  statusHistory: history.map(({ status, at, actor }) => ({ status, ...isoTimes({ at }), actor })),
  ...isoTimes(pick(lender, 'createdAt', 'updatedAt')),
  version: lender.version,
})
export type LenderView = ReturnType<typeof lenderView>
