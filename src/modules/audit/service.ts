import type { Writer } from '../../../db/engine.ts'
import type { Deps } from '../../core/deps.ts'
import { auditStore as store } from './store.ts'

/** On whose behalf something is done: what the audit trail says of it. */
export type Actor = { readonly id: string; readonly requestId?: string | undefined }
/** A command on the operator's own machine. */
export const system: Actor = { id: 'system' }

export type AuditEntry = { action: string; subject: string; shopId?: string | undefined }

/**
 * Prepares an audit row; call what it returns inside the write that it tells of. Id and time are fixed now, because a work
 * may run more than once.
 */
export function audit({ clock, newId }: Pick<Deps, 'clock' | 'newId'>, actor: Actor, entry: AuditEntry): (tx: Writer) => Promise<void> {
  const row = {
    id: newId('audit'),
    at: clock.now(),
    actor: actor.id,
    action: entry.action,
    subject: entry.subject,
    shopId: entry.shopId ?? null,
    requestId: actor.requestId ?? null,
  }
  return (tx) => store.insert(tx, row)
}

/** How often an action was done to a subject since `since` (milliseconds). */
export const timesDone = (tx: Pick<Writer, 'select'>, action: string, subject: string, since: number): Promise<number> =>
  store.count(tx, { action, subject, since })
