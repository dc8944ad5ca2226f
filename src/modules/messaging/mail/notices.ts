import type { Writer } from '../../../../db/engine.ts'
import type { AccountChange } from './domain.ts'
import type { MailBaseDeps } from './mail-deps.ts'
import { queueMail } from './queue.ts'

/**
 * Notifies an account's owner of a change, inside its write.
 * @param shopId of a customer; null for merchants and operators
 * @param to the address before the change
 */
export const notifyAccountChange = (
  tx: Writer,
  deps: Pick<MailBaseDeps, 'clock' | 'newId' | 'keyring' | 'config' | 'mailCounts'>,
  { shopId, to, what }: { shopId: string | null; to: string; what: AccountChange },
): Promise<void> =>
  queueMail(tx, deps, { key: `account-changed:${deps.newId('mail')}`, shopId, to, template: 'account-changed', data: { what } })
