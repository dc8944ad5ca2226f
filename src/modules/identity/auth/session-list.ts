import type { Writer } from '../../../../db/engine.ts'
import type { Actor } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { Principal } from '../../../core/principal.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { audit } from '../../operations/audit/index.ts'
import type { AuthDeps } from './providers.ts'
import type { Session } from './store.ts'

/** A principal with a session. */
export type LoggedIn = Extract<Principal, { readonly sessionId: string }>

const viewOf = (session: Session, { sessionId }: LoggedIn) => {
  const { createdAt, expiresAt, lastUsedAt } = session
  return {
    ...pick(session, 'id', 'address', 'agent'),
    ...isoTimes({ createdAt, expiresAt, lastUsedAt: lastUsedAt ?? createdAt }),
    current: session.id === sessionId,
  }
}

/** Lists the caller's active sessions, newest first. */
export async function listOwnSessions(
  { authStore, clock }: AuthDeps,
  principal: LoggedIn,
  slice: PageSlice,
): Promise<Page<ReturnType<typeof viewOf>>> {
  const { rows, total } = await authStore.liveSessions(principal.id, clock.now(), slice)
  return pageOf(
    rows.map((row) => viewOf(row, principal)),
    total,
    slice,
  )
}

/**
 * Ends one of the caller's sessions with all its tokens.
 * @throws AppError NOT_FOUND, also for a foreign session and for one that has ended
 */
export async function endOwnSession(deps: AuthDeps, principal: LoggedIn, actor: Actor, id: string): Promise<void> {
  const { authStore, clock, db } = deps
  const session = await authStore.findSession(id)
  const isOwn = session?.subjectId === principal.id && session.expiresAt > clock.now()
  await db.write(async (tx) => {
    if (!isOwn || !(await authStore.revokeSession(tx, id, clock.now()))) throw new AppError('NOT_FOUND', 'No such session')
    await audit(tx, deps, {
      actor,
      action: 'session.ended',
      subject: principal.id,
      shopId: shopOf(principal),
      before: { session: id, role: session.role },
    })
  })
}

/** Ends all other sessions of the caller. Audited only if any ended, so that repeated calls do not fill the trail. */
export async function endOtherSessions(deps: AuthDeps, principal: LoggedIn, actor: Actor): Promise<void> {
  await deps.db.write(async (tx) => {
    const ended = await endSessionsOf(tx, deps, principal.id, principal.sessionId)
    if (ended === 0) return
    const after = { kept: principal.sessionId, ended }
    await audit(tx, deps, { actor, action: 'session.others_ended', subject: principal.id, shopId: shopOf(principal), after })
  })
}

/** Ends all sessions of a person inside a write, except `keptId`. Returns their number. */
export const endSessionsOf = (tx: Writer, { authStore, clock }: AuthDeps, subjectId: string, keptId?: string): Promise<number> =>
  authStore.revokeSessionsOf(tx, subjectId, clock.now(), keptId)

const shopOf = (principal: LoggedIn): string | undefined => (principal.kind === 'customer' ? principal.shopId : undefined)
