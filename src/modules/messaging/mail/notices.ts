import type { Writer } from '../../../../db/engine.ts'
import type { AccountChange } from './domain.ts'
import type { MailBaseDeps } from './mail-deps.ts'
import { queueMail } from './queue.ts'

/**
 * Tells whoever has an account what was changed of it, inside the write that changes it: if it was not they, they had better know.
 * @param shopId of a customer; null of merchants and operators
 * @param to where they were to be reached until now
 */
export const tellOfAccount = (
  tx: Writer,
  deps: Pick<MailBaseDeps, 'clock' | 'newId' | 'keyring' | 'config' | 'mailCounts'>,
  { shopId, to, what }: { shopId: string | null; to: string; what: AccountChange },
): Promise<void> =>
  queueMail(tx, deps, { key: `account-changed:${deps.newId('mail')}`, shopId, to, template: 'account-changed', data: { what } })
