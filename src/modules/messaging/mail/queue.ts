import type { Writer } from '../../../../db/engine.ts'
import { mailboxOf, storedMailAddress } from '../../../lib/mail-address.ts'
import { sha256 } from '../../../lib/seal.ts'
import { isErasedEmail } from '../../customers/erasure/domain.ts'
import { laneOf, type MailData, type MailLanguage, type MailTemplate, mailSeal, mailTemplates } from './domain.ts'
import type { MailBaseDeps } from './mail-deps.ts'
import { mailStore as store } from './store.ts'

/** A mail to be queued. */
type NewMail<Template extends MailTemplate = MailTemplate> = {
  /** Names the event, so that it is mailed once: `order-confirmed:order_…`. Contains no personal data and no secret. */
  key: string
  /** Null: from the instance itself. */
  shopId: string | null
  to: string
  template: Template
  data: MailData[Template]
  /** Delay in milliseconds. */
  afterMs?: number
  /** The rate-limit key of the person outside the shop who caused it. */
  cause?: string | undefined
  /** Default: the shop's language. */
  language?: MailLanguage | undefined
}

/** Returns whether a mail server is configured. */
export const sendsMail = ({ config }: Pick<MailBaseDeps, 'config'>): boolean => config.smtpUrl !== undefined

/**
 * Queues a mail inside the write of its event. A second mail with the same key is ignored. Nothing is stored without a
 * mail server or for erased addresses.
 * @param mail its data is sealed, and deleted once sent
 */
export async function queueMail<Template extends MailTemplate>(
  tx: Writer,
  deps: Pick<MailBaseDeps, 'clock' | 'newId' | 'keyring' | 'config' | 'mailCounts'>,
  { key, shopId, to, template, data, language, cause, afterMs = 0 }: NewMail<Template>,
): Promise<void> {
  const { clock, newId, keyring, mailCounts } = deps
  if (isErasedEmail(to)) return
  if (!sendsMail(deps)) {
    tx.afterCommit(() => mailCounts.add('dropped'))
    return
  }
  const now = clock.now()
  const id = newId('mail')
  await store.insert(tx, {
    id,
    key,
    shopId,
    lane: laneOf(shopId, template),
    template,
    language: language ?? null,
    sealed: keyring.seal(JSON.stringify({ to: storedMailAddress(to), data }), mailSeal(id)),
    status: 'PENDING',
    attempts: 0,
    nextAt: now + afterMs,
    expiresAt: now + afterMs + mailTemplates[template].lifeMs,
    lastError: null,
    createdAt: now,
    updatedAt: now,
    recipient: recipientOf(to),
    cause: cause === undefined ? null : quotaHashOf(`cause ${cause}`),
    countedAt: null,
  })
}

/** Returns the key of recipient quotas, one for each mailbox: a hash, so that no address is stored. */
const recipientOf = (to: string): string => quotaHashOf(`recipient ${mailboxOf(to)}`)
const quotaHashOf = (text: string): string => sha256(`mail ${text}`).slice(0, 32)
