import type { Reader } from './engine.ts'

/** Tables that are only ever appended to, and what follows them asks for what is new. */
export const tailTables = ['order_events', 'audit_log', 'live_events'] as const
export type TailTable = (typeof tailTables)[number]

/** A row that is new. */
export type TailRow = { readonly table: TailTable; readonly id: string }
/** Rows that come together, and how far one has read behind them. */
export type TailPiece = { readonly rows: readonly TailRow[]; readonly place: string }
/** What is new behind a place, in the order of the commits. `place` is behind all of it; not `isWhole`: there is more. */
export type TailPage = { readonly pieces: readonly TailPiece[]; readonly place: string; readonly isWhole: boolean }

type Rows = Pick<Reader, 'rows'>
export type TailAsked = {
  /** What is behind this place is left out. */
  readonly until?: string | undefined
  /** Rows of a table at once. */
  readonly limit: number
  /** Milliseconds: rows of an earlier time are not told. */
  readonly notBefore: number
}

/**
 * Reads what was committed since. A place is a text of `0-9a-z.-` that means something to the database which it is of, and to no other. Nothing is left out
 * and nothing comes twice between two places, whoever committed it and however long that took.
 */
export type Tail = {
  /** Behind all that is committed. */
  now(read: Rows): Promise<string>
  /** @returns undefined where there is no such place, or not any more */
  since(read: Rows, from: string, asked: TailAsked): Promise<TailPage | undefined>
}

/** By when they were made: what ids of several tables have in common. */
export const suffixOf = (id: string): string => id.slice(id.lastIndexOf('_') + 1)
