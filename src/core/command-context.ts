import type { WriteOptions, Writer } from '../../db/engine.ts'
import type { Deps } from './deps.ts'
import type { ShopContext } from './principal.ts'
import type { Expected } from './versions.ts'

/** Where a request came from, and what it is called: what the audit trail says of it besides who it was. */
export type Origin = { readonly requestId?: string | undefined; readonly address?: string | undefined }
/** On whose behalf something is done. */
export type Actor = Origin & { readonly id: string }
/** A command on the operator's own machine. */
export const system: Actor = { id: 'system' }

/**
 * Makes one write. `db.write` is one; that of an idempotent request also stores what the work returns, in the same commit, as the
 * answer for whoever sends the request again.
 */
export type Write = <T>(work: (tx: Writer) => Promise<T>, options?: WriteOptions) => Promise<T>

/** For works that lock what they decide on before they read it: the order of locks is in docs/architecture.md. */
export const locking = { isolation: 'locking' } as const
/** The same where it waits for nothing, and many do it at the same time: `what` they do, in the shop where they do it. */
export const inLine = (what: string, shopId: string): WriteOptions => ({ ...locking, line: `${what} ${shopId}` })

/** Who changes something, in which shop, and by which write; without one, by `db.write`. */
export type Change<Shop = Pick<ShopContext, 'id'>> = {
  readonly shop: Shop
  readonly actor: Actor
  readonly write?: Write | undefined
  /** The version that the record must have; any, when undefined. Whoever makes the change asks `assertExpected` inside the write. */
  readonly expected?: Expected | undefined
}

/** The same change by a write that is `locking`. */
export function withLocks<By extends Pick<Change, 'write'>>({ db }: Pick<Deps, 'db'>, by: By): By & { readonly write: Write } {
  const { write = db.write } = by
  return { ...by, write: (work) => write(work, locking) }
}
