import type { WriteOptions, Writer } from '../../db/engine.ts'
import type { Deps } from './deps.ts'
import type { ShopContext } from './principal.ts'
import type { ExpectedVersion } from './versions.ts'

/** Request id and address of a request, for the audit log. */
export type Origin = { readonly requestId?: string | undefined; readonly address?: string | undefined }
/** Who performs a command. */
export type Actor = Origin & { readonly id: string }
/** A command on the operator's machine. */
export const system: Actor = { id: 'system' }

/**
 * Performs one write. Default: `db.write`. For an idempotent request it also stores the result of `work` as the
 * response, in the same commit.
 */
export type Write = <T>(work: (tx: Writer) => Promise<T>, options?: WriteOptions) => Promise<T>

/** Options of writes that lock rows before they read them. `db/schema/lock-order.ts` gives the order. */
export const locking = { isolation: 'locking' } as const
/**
 * Returns options like `locking`, for frequent writes that wait for nothing. Writes with the same `what` and shop may
 * share a commit.
 */
export const groupedLocking = (what: string, shopId: string): WriteOptions => ({ ...locking, group: `${what} ${shopId}` })

/** The shop, the actor and the write function of a command. */
export type CommandContext<Shop = Pick<ShopContext, 'id'>> = {
  readonly shop: Shop
  readonly actor: Actor
  readonly write?: Write | undefined
  /** The version that the record must have; undefined: any. The command calls `assertVersion` inside the write. */
  readonly expected?: ExpectedVersion | undefined
}

/** Returns the same context with a write that uses `locking`. */
export function withLocks<By extends Pick<CommandContext, 'write'>>({ db }: Pick<Deps, 'db'>, by: By): By & { readonly write: Write } {
  const { write = db.write } = by
  return { ...by, write: (work) => write(work, locking) }
}
