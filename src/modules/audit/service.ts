import type { Writer } from '../../../db/engine.ts'
import type { Actor, Change } from '../../core/change.ts'
import type { Deps } from '../../core/deps.ts'
import { auditStore as store } from './store.ts'

/** What was done to what. */
export type AuditEntry = { action: string; subject: string }

/** Writes a row of the audit trail, inside the write that it tells of. */
export const audit = (
  tx: Writer,
  { clock, newId }: Pick<Deps, 'clock' | 'newId'>,
  { actor, action, subject, shopId }: AuditEntry & { actor: Actor; shopId?: string | undefined },
): Promise<void> =>
  store.insert(tx, {
    id: newId('audit'),
    at: clock.now(),
    actor: actor.id,
    action,
    subject,
    shopId: shopId ?? null,
    requestId: actor.requestId ?? null,
  })

/**
 * The write of whatever somebody asked to be changed: the work and the row of the audit trail that tells of it, in one commit.
 * @returns what the work returns, which an idempotent request stores as its answer
 */
export function audited<T>(
  deps: Pick<Deps, 'db' | 'clock' | 'newId'>,
  { actor, shop, write = deps.db.write }: Pick<Change, 'actor' | 'write'> & Partial<Pick<Change, 'shop'>>,
  entry: AuditEntry,
  work: (tx: Writer) => Promise<T>,
): Promise<T> {
  return write(async (tx) => {
    const done = await work(tx)
    await audit(tx, deps, { ...entry, actor, shopId: shop?.id })
    return done
  })
}

/** How often an action was done to a subject since `since` (milliseconds). */
export const timesDone = (from: Pick<Writer, 'select'>, { action, subject, since }: AuditEntry & { since: number }): Promise<number> =>
  store.count(from, { action, subject, since })

/** When an action was done to a subject for the nth last time (milliseconds); undefined when it was not done so often since `since`. */
export const nthLastTime = (
  from: Pick<Writer, 'select'>,
  { action, subject, since, nth }: AuditEntry & { since: number; nth: number },
): Promise<number | undefined> => store.nthLast(from, { action, subject, since, nth })
