import type { Actor } from './command-context.ts'
import type { OperatorRefusalReason } from './operator-guard.ts'

/** Records refused requests in the audit log. */
export type RefusalAudit = {
  /**
   * Records that a caller exceeded a limit.
   * @param route the declared route, such as `POST /cart/:id/items`, because a path may contain a secret
   */
  limitHit(hit: { actor: Actor; route: string; shopId?: string | undefined }): Promise<void>
  /** Records that a request to an operator route was refused. */
  operatorRefused(refusal: { actor: Actor; route: string; reason: 'TOKEN' | 'ROLE' | OperatorRefusalReason }): Promise<void>
}
