import type { MailServer } from '../../../core/mail-server.ts'
import type { Breaker } from '../../../lib/breaker.ts'
import type { Tally } from '../../../lib/prometheus.ts'
import type { OrderLinkDeps } from '../../selling/order-link/index.ts'
import type { ShopDeps } from '../../shop/shop/index.ts'
import type { Mail, MailContent, MailTemplate } from './domain.ts'

/** How this process finds the mail server. */
export type MailHealth = { breaker: Breaker }
/**
 * Makes what is sent of what was queued, when it is sent: such as a token that is good from then on. May be asked for the same mail again.
 * Undefined: nobody is to get it. `template`: another one than that under which it was queued.
 */
export type Preparer = (
  content: MailContent,
  mail: Pick<Mail, 'id' | 'shopId'>,
) => Promise<(MailContent & { readonly template?: MailTemplate }) | undefined>

export type MailBase = {
  readonly mailServer: MailServer | undefined
  readonly mailHealth: MailHealth
  /** What has become of mails in this process. */
  readonly mailCounts: Tally
  /** By template. A module that stands above puts its own there. */
  readonly mailPreparers: Map<string, Preparer>
  /** What one attempt may take, connection and all. Tests have less time. */
  readonly mailLimits: { attemptMs: number }
}
export type MailBaseDeps = ShopDeps & OrderLinkDeps & MailBase
