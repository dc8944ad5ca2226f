import { openMailServer } from '../../../clients/smtp.ts'
import { closedBreaker } from '../../../lib/breaker.ts'
import { createTally } from '../../../lib/prometheus.ts'
import { createStaleWhileRevalidate } from '../../../lib/stale-while-revalidate.ts'
import type { OrderLinkDeps } from '../../selling/order-link/index.ts'
import type { ShopDeps } from '../../shop/shop/index.ts'
import { createMailSender } from './delivery.ts'
import type { MailBase } from './mail-deps.ts'
import type { QueueFigures } from './store.ts'

export function mailProviders(deps: ShopDeps & OrderLinkDeps) {
  const { smtpUrl } = deps.config
  const base: MailBase = {
    mailServer: smtpUrl === undefined ? undefined : openMailServer(smtpUrl),
    mailHealth: { breaker: closedBreaker },
    mailCounts: createTally(),
    mailPreparers: new Map(),
    mailLimits: { attemptMs: 60_000 },
  }
  return {
    ...base,
    mails: createMailSender({ ...deps, ...base }),
    /** Cached figures of the queue for metrics. */
    mailFigures: createStaleWhileRevalidate<QueueFigures>(deps.clock.monotonic),
  }
}
export type MailDeps = ShopDeps & OrderLinkDeps & ReturnType<typeof mailProviders>
