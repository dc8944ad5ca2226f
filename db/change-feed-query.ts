import type { Reader } from './engine.ts'

/** Append-only tables of the change feed. */
export const changeFeedTables = ['order_events', 'audit_log', 'live_events'] as const
export type ChangeFeedTable = (typeof changeFeedTables)[number]

/** A row that is new. */
export type ChangedRow = { readonly table: ChangeFeedTable; readonly id: string }
/** Rows of one commit, and the cursor after them. */
export type ChangeGroup = { readonly rows: readonly ChangedRow[]; readonly cursor: string }
/** Rows after a cursor in commit order. `cursor` is after all of them; `isWhole` is false if more follow. */
export type ChangePage = { readonly groups: readonly ChangeGroup[]; readonly cursor: string; readonly isWhole: boolean }

type Rows = Pick<Reader, 'rows'>
/** Bounds of one read of the change feed. */
export type ChangeQuery = {
  /** Rows after this cursor are omitted. */
  readonly until?: string | undefined
  /** Maximum rows per table. */
  readonly limit: number
  /** Milliseconds; earlier rows are omitted. */
  readonly notBefore: number
}

/**
 * Reads committed rows of a database in commit order. A cursor is a text of `0-9a-z.-`, valid for its database only. No
 * row is missed or repeated between two cursors, even if its commit takes long.
 */
export type ChangeFeed = {
  /** Returns the cursor after all committed rows. */
  now(read: Rows): Promise<string>
  /** @returns undefined if the cursor is unknown or no longer valid */
  since(read: Rows, from: string, query: ChangeQuery): Promise<ChangePage | undefined>
}

/** Returns the part of an id that orders ids of several tables by time. */
export const suffixOf = (id: string): string => id.slice(id.lastIndexOf('_') + 1)
