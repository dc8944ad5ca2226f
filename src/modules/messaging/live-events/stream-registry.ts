import { AppError } from '../../../core/errors.ts'
import type { Listener, Viewer } from './listener.ts'

/** Limits of open streams per process. `ofAll` counts only shops, so that merchants cannot keep operators out. */
export type StreamLimits = { readonly ofAccount: number; readonly ofShop: number; readonly ofAll: number }
export const streamLimits: StreamLimits = { ofAccount: 20, ofShop: 100, ofAll: 2_000 }

const retryAfterSeconds = 15

/** A request for a stream. */
export type StreamRequest = {
  readonly viewer: Viewer
  /** The last id that the client received; undefined: begins now. */
  readonly lastEventId: string | undefined
  /** Expiry of the token in milliseconds; undefined for a key. */
  readonly expiresAt: number | undefined
  /** Returns whether the listener is still authorised. */
  readonly isAuthorised: () => Promise<boolean>
}
export type EventStream = {
  readonly listener: Listener
  readonly request: StreamRequest
  /** The cursor to resume at; `resync` if the id is invalid; undefined: begins now. */
  readonly from: string | 'resync' | undefined
  /** When the authorisation was last checked, by the monotonic clock. */
  checkedAt: number
  /** Whether the authorisation must be checked at the next update. */
  needsCheck: boolean
}

/** Creates the list of the streams of a process: pending ones, which wait for the reader's position, and open ones. */
export function createStreamRegistry(most: StreamLimits) {
  const open = new Set<EventStream>()
  const byShop = new Map<string | undefined, Set<EventStream>>()
  const accounts = new Map<string, number>()
  const pending = new Set<EventStream>()

  function count(by: number, accountId: string): void {
    const left = (accounts.get(accountId) ?? 0) + by
    if (left > 0) accounts.set(accountId, left)
    else accounts.delete(accountId)
  }

  /** Returns the number of streams of a shop, or of operators. */
  const countOf = (shopId: string | undefined): number =>
    (byShop.get(shopId)?.size ?? 0) + [...pending].filter(({ listener }) => listener.viewer.shopId === shopId).length

  return {
    open: open as ReadonlySet<EventStream>,
    /** The open streams by shop; undefined: of operators. */
    byShop: byShop as ReadonlyMap<string | undefined, ReadonlySet<EventStream>>,
    pending: pending as ReadonlySet<EventStream>,
    all: (): EventStream[] => [...open, ...pending],
    /** @throws AppError RATE_LIMITED beyond the limit of an account or a shop; UNAVAILABLE beyond the limit of all */
    assertCapacity({ shopId, accountId }: Viewer): void {
      const tooMany = (what: string) => new AppError('RATE_LIMITED', what, { retryAfterSeconds })
      if ((accounts.get(accountId) ?? 0) >= most.ofAccount) throw tooMany(`${most.ofAccount} streams of this account are open: close one`)
      if (shopId === undefined) return
      if (countOf(shopId) >= most.ofShop) throw tooMany(`${most.ofShop} streams of this shop are open: close one`)
      if (open.size + pending.size - countOf(undefined) >= most.ofAll)
        throw new AppError('UNAVAILABLE', 'Too many streams are open: try again', { retryAfterSeconds })
    },
    add(stream: EventStream): void {
      count(1, stream.request.viewer.accountId)
      pending.add(stream)
    },
    /** Opens the pending streams and returns them. */
    openPending(): EventStream[] {
      const streams = [...pending]
      pending.clear()
      for (const stream of streams) {
        open.add(stream)
        byShop.getOrInsertComputed(stream.request.viewer.shopId, () => new Set()).add(stream)
      }
      return streams
    },
    remove(stream: EventStream): void {
      const { shopId, accountId } = stream.request.viewer
      count(-1, accountId)
      pending.delete(stream)
      open.delete(stream)
      const ofShop = byShop.get(shopId)
      ofShop?.delete(stream)
      if (ofShop?.size === 0) byShop.delete(shopId)
    },
  }
}
