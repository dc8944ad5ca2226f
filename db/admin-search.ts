/** Search indexes that only the staff of a shop uses, for both engines. Terms come from `lib/search-terms.ts`. */
import type { Reader, Writer } from './engine.ts'

/** The terms of a record. */
export type IndexedWords = {
  readonly words: readonly string[]
  /** Terms that match as whole words only, such as filter values. They contain no spaces. */
  readonly whole: readonly string[]
}

/** A query: all terms must match. */
export type WordQuery = {
  readonly shopId: string
  /** The last term also matches as a prefix. */
  readonly words: readonly string[]
  readonly whole: readonly string[]
  readonly limit: number
}

interface PurgeableIndex {
  /**
   * Rewrites a part of the index to delete removed terms physically, because an engine may only mark them.
   * @param isFirst starts over; otherwise continues
   * @returns whether more is to do
   */
  purge(tx: Writer, isFirst: boolean): Promise<boolean>
}

/** Index of orders by number and terms. */
export interface OrderSearch extends PurgeableIndex {
  /**
   * Indexes an order by its number and terms, in the write that creates it, after its row. PostgreSQL does not wait for
   * the result.
   */
  add(tx: Writer, order: { readonly id: string; readonly shopId: string }, words: readonly string[]): Promise<void>
  /** Indexes an order that may be indexed already. */
  replace(tx: Writer, order: { readonly id: string; readonly shopId: string }, words: readonly string[]): Promise<void>
  /**
   * @param query `first` and `last` bound the numbers
   * @returns order numbers, highest first
   */
  find(read: Reader, query: WordQuery & { readonly first: number; readonly last: number }): Promise<number[]>
}

/** Index of records with ascending ids. */
export interface RecordSearch extends PurgeableIndex {
  /** Indexes a record, or replaces its terms. */
  put(
    tx: Writer,
    record: { readonly id: string; readonly shopId: string; readonly createdAt: number },
    wording: IndexedWords,
  ): Promise<void>
  /** Removes a record from the index, before its row is deleted. */
  remove(tx: Writer, id: string): Promise<void>
  /** @returns ids, newest first */
  find(read: Reader, query: WordQuery): Promise<string[]>
}

/**
 * Encodes a value as a term that text cannot contain, because terms have no `_`.
 * @param kind separates the values of different fields
 */
export const exactWordOf = (kind: string, value: string): string => `${kind}_${Bun.hash.xxHash3(value).toString(36)}`
