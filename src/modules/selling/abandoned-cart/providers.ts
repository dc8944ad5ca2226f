import type { CustomerDeps } from '../../customers/customer/index.ts'
import type { MailDeps } from '../../messaging/mail/index.ts'
import type { CartDeps } from '../cart/index.ts'
import { createMailPreparer } from './service.ts'
import { createAbandonedCartStore } from './store.ts'

export function abandonedCartProviders(deps: CartDeps & CustomerDeps & MailDeps) {
  const abandonedCartStore = createAbandonedCartStore(deps.db)
  deps.mailPreparers.set('abandoned-cart', createMailPreparer({ ...deps, abandonedCartStore }))
  return { abandonedCartStore }
}
