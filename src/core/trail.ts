import type { Actor } from './change.ts'

/** What the boundary puts on record of what it refuses. */
export type Trail = {
  /**
   * Somebody met a limit.
   * @param route as it is declared: `POST /cart/:id/items`, since a path may hold a secret
   */
  limitHit(hit: { actor: Actor; route: string; shopId?: string | undefined }): Promise<void>
}
