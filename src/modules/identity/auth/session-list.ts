import type { Writer } from '../../../../db/engine.ts'
import type { Actor } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { Principal } from '../../../core/principal.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { type Page, pageOf, type Slice } from '../../../lib/page.ts'
import { audit } from '../../operations/audit/index.ts'
import type { AuthDeps } from './providers.ts'
import type { Session } from './store.ts'

/** Whoever is logged in. */
export type LoggedIn = Extract<Principal, { readonly sessionId: string }>

type SessionView = {
  id: string
  createdAt: string
  lastUsedAt: string
  expiresAt: string
  address: string | null
  agent: string | null
  current: boolean
}

const viewOf = (session: Session, { sessionId }: LoggedIn): SessionView => {
  const { createdAt, expiresAt, lastUsedAt } = session
  return {
    ...pick(session, 'id', 'address', 'agent'),
    ...isoTimes({ createdAt, expiresAt, lastUsedAt: lastUsedAt ?? createdAt }),
    current: session.id === sessionId,
  }
}

/** One's own sessions that are not over, newest first. */
export async function ownSessions({ authStore, clock }: AuthDeps, who: LoggedIn, slice: Slice): Promise<Page<SessionView>> {
  const { rows, total } = await authStore.liveSessions(who.id, clock.now(), slice)
  return pageOf(
    rows.map((row) => viewOf(row, who)),
    total,
    slice,
  )
}

/**
 * Ends one of one's own sessions, with every token of it.
 * @throws AppError NOT_FOUND, also for somebody else's and for one that is over
 */
export async function endOwnSession(deps: AuthDeps, who: LoggedIn, actor: Actor, id: string): Promise<void> {
  const { authStore, clock, db } = deps
  const session = await authStore.findSession(id)
  const isOwn = session?.subjectId === who.id && session.expiresAt > clock.now()
  await db.write(async (tx) => {
    if (!isOwn || !(await authStore.revokeSession(tx, id, clock.now()))) throw new AppError('NOT_FOUND', 'No such session')
    await audit(tx, deps, {
      actor,
      action: 'session.ended',
      subject: who.id,
      shopId: shopOf(who),
      before: { session: id, role: session.role },
    })
  })
}

/** Ends all of one's own sessions but the one that asks. Only what was ended leaves a row: anybody may ask for nothing over and over. */
export async function endOtherSessions(deps: AuthDeps, who: LoggedIn, actor: Actor): Promise<void> {
  await deps.db.write(async (tx) => {
    const ended = await endSessionsOf(tx, deps, who.id, who.sessionId)
    if (ended === 0) return
    const after = { kept: who.sessionId, ended }
    await audit(tx, deps, { actor, action: 'session.others_ended', subject: who.id, shopId: shopOf(who), after })
  })
}

/** Ends every session of a person, inside a write; but one, if it is named. How many it was. */
export const endSessionsOf = (tx: Writer, { authStore, clock }: AuthDeps, subjectId: string, keptId?: string): Promise<number> =>
  authStore.revokeSessionsOf(tx, subjectId, clock.now(), keptId)

const shopOf = (who: LoggedIn): string | undefined => (who.kind === 'customer' ? who.shopId : undefined)
