import type { Writer } from '../../../../db/engine.ts'
import { normalMailAddress, storedMailAddress } from '../../../lib/mail-address.ts'
import { sha256 } from '../../../lib/seal.ts'
import { isErasedEmail } from '../../customers/erasure/domain.ts'
import { laneOf, type MailData, type MailLanguage, type MailTemplate, mailSeal, mailTemplates } from './domain.ts'
import type { MailBaseDeps } from './mail-deps.ts'
import { mailStore as store } from './store.ts'

/** A mail that is to be sent. */
export type NewMail<Template extends MailTemplate = MailTemplate> = {
  /** Names what it tells of, so that it is told once: `order-confirmed:order_…`. Nothing of a person, and no secret. */
  key: string
  /** Null: it is from the instance itself. */
  shopId: string | null
  to: string
  template: Template
  data: MailData[Template]
  /** Not to be sent before so many milliseconds have passed. */
  afterMs?: number
  /** The network address (a limit key) that asked for it, of somebody who is not of the shop. */
  cause?: string | undefined
  /** Without one, the shop's. */
  language?: MailLanguage | undefined
}

/** Whether mails are sent at all: else those who would write one may say so at once. */
export const sendsMail = ({ config }: Pick<MailBaseDeps, 'config'>): boolean => config.smtpUrl !== undefined

/**
 * Writes a mail into the queue, inside the write of what it tells of: nobody waits for a mail server. A second one under a key changes
 * nothing. Where no mail server is set, and to those whose address was erased, nothing is written.
 * @param mail with the data of its template; it is kept sealed, and forgotten once the mail is sent
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
    cause: cause === undefined ? null : hashOf(`cause ${cause}`),
    countedAt: null,
  })
}

/** What quotas of a recipient count by: no address is kept. */
export const recipientOf = (to: string): string => hashOf(`recipient ${normalMailAddress(to)}`)
const hashOf = (text: string): string => sha256(`mail ${text}`).slice(0, 32)
