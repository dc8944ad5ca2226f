import type { Actor } from './command-context.ts'
import type { WhereReason } from './operator-guard.ts'

/** What the boundary puts on record of what it refuses. */
export type Trail = {
  /**
   * Somebody met a limit.
   * @param route as it is declared: `POST /cart/:id/items`, since a path may hold a secret
   */
  limitHit(hit: { actor: Actor; route: string; shopId?: string | undefined }): Promise<void>
  /** Somebody was refused at a route for operators. */
  operatorRefused(refusal: { actor: Actor; route: string; reason: 'TOKEN' | 'ROLE' | WhereReason }): Promise<void>
}
