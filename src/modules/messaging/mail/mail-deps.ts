import type { MailServer } from '../../../core/mail-server.ts'
import type { Breaker } from '../../../lib/breaker.ts'
import type { Tally } from '../../../lib/prometheus.ts'
import type { OrderLinkDeps } from '../../selling/order-link/index.ts'
import type { ShopDeps } from '../../shop/shop/index.ts'
import type { Mail, MailContent, MailTemplate } from './domain.ts'

/** The state of the mail server as this process sees it. */
export type MailHealth = { breaker: Breaker }
/**
 * Completes a queued mail when it is sent, for example with a token that is valid from then. May run again for the same
 * mail.
 * Undefined: there is no recipient. `template` replaces the queued one.
 */
export type Preparer = (
  content: MailContent,
  mail: Pick<Mail, 'id' | 'shopId' | 'attempts'>,
) => Promise<(MailContent & { readonly template?: MailTemplate }) | undefined>

export type MailBase = {
  readonly mailServer: MailServer | undefined
  readonly mailHealth: MailHealth
  /** Counts of mail results in this process. */
  readonly mailCounts: Tally
  /** By template. Modules above register theirs here. */
  readonly mailPreparers: Map<string, Preparer>
  /** Time for one attempt, including the connection. Shorter in tests. */
  readonly mailLimits: { attemptMs: number }
}
export type MailBaseDeps = ShopDeps & OrderLinkDeps & MailBase
