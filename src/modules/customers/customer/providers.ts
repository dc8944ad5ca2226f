import type { Deps } from '../../../core/deps.ts'
import type { AuthDeps } from '../../identity/auth/index.ts'
import type { MailDeps } from '../../messaging/mail/index.ts'
import type { GuestOrders } from './guest-orders.ts'
import { createCustomerStore } from './store.ts'

export const customerProviders = ({ db }: Deps) => ({
  customerStore: createCustomerStore(db),
  /** The orders module registers here how guest orders join a customer. */
  guestOrders: [] as GuestOrders[],
})
export type CustomerDeps = AuthDeps & MailDeps & ReturnType<typeof customerProviders>
