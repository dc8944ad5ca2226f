import type { Deps } from '../../core/deps.ts'
import type { KybDeps } from '../kyb/index.ts'
import { hostsIn, type ProcessorAccountDeps } from '../processor-account/index.ts'
import { instanceAccountsOf } from './accounts.ts'
import { createBreakers } from './breakers.ts'
import { createPaymentMethodStore } from './store.ts'

export const paymentMethodParts = ({ db, clock, config }: Deps) => ({
  paymentMethodStore: createPaymentMethodStore(db),
  breakers: createBreakers(clock.now),
  /** The instance's own, by the mode of the shop that asks. */
  instanceAccounts: { TEST: instanceAccountsOf(config, 'TEST'), LIVE: instanceAccountsOf(config, 'LIVE') },
  /** Where the processors' APIs are for these. */
  instanceHosts: hostsIn(config),
})
export type PaymentMethodDeps = KybDeps & ProcessorAccountDeps & ReturnType<typeof paymentMethodParts>
