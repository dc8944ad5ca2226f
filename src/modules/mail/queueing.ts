import type { Writer } from '../../../db/engine.ts'
import { laneOf, type MailData, type MailLanguage, type MailTemplate, mailSeal, mailTemplates } from './domain.ts'
import type { MailDeps } from './parts.ts'
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
  /** Without one, the shop's. */
  language?: MailLanguage | undefined
}

/** Whether mails are sent at all: else those who would write one may say so at once. */
export const sendsMail = ({ config }: Pick<MailDeps, 'config'>): boolean => config.smtpUrl !== undefined

/**
 * Writes a mail into the queue, inside the write of what it tells of: nobody waits for a mail server. A second one under a key changes
 * nothing. Where no mail server is set, nothing is written.
 * @param mail with the data of its template; it is kept sealed, and forgotten once the mail is sent
 */
export async function queueMail<Template extends MailTemplate>(
  tx: Writer,
  deps: Pick<MailDeps, 'clock' | 'newId' | 'keyring' | 'config' | 'mailCounts'>,
  { key, shopId, to, template, data, language }: NewMail<Template>,
): Promise<void> {
  const { clock, newId, keyring, mailCounts } = deps
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
    sealed: keyring.seal(JSON.stringify({ to, data }), mailSeal(id)),
    status: 'PENDING',
    attempts: 0,
    nextAt: now,
    expiresAt: now + mailTemplates[template].lifeMs,
    lastError: null,
    createdAt: now,
    updatedAt: now,
  })
}
