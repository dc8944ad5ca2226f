/** How the words of what only a shop's own people search are kept, alike for both engines. Words come normalised from `lib/search-terms.ts`. */
import type { Reader, Writer } from './engine.ts'

/** What a record is found by. */
export type Wording = {
  readonly words: readonly string[]
  /** Found whole alone, never by how they begin: what filters ask for. They hold no space. */
  readonly whole: readonly string[]
}

/** What is asked for: all of it must be there. */
export type WordQuery = {
  readonly shopId: string
  /** The last one may be how a word begins; a whole one it must be otherwise. */
  readonly words: readonly string[]
  readonly whole: readonly string[]
  readonly limit: number
}

interface Purged {
  /**
   * Rewrites a part of the index, so that words of before stand nowhere in it: an engine may only mark them as gone.
   * @param isFirst begins; otherwise goes on
   * @returns whether there is more to do
   */
  purge(tx: Writer, isFirst: boolean): Promise<boolean>
}

export interface OrderSearch extends Purged {
  /** Makes an order findable, by its number and these words, in the write that makes it and behind its row. Nothing is waited for where the engine need not. */
  add(tx: Writer, order: { readonly id: string; readonly shopId: string }, words: readonly string[]): Promise<void>
  /** The same of one that may be there already, whose words are others now. */
  replace(tx: Writer, order: { readonly id: string; readonly shopId: string }, words: readonly string[]): Promise<void>
  /** @returns numbers, highest first. @param query `first` and `last` bound them */
  find(read: Reader, query: WordQuery & { readonly first: number; readonly last: number }): Promise<number[]>
}

/** Of records whose ids are given out in order. */
export interface RecordSearch extends Purged {
  /** Makes a record findable by its shop's own people, or by other words than before. */
  put(tx: Writer, record: { readonly id: string; readonly shopId: string; readonly createdAt: number }, wording: Wording): Promise<void>
  /** @returns ids, newest first */
  find(read: Reader, query: WordQuery): Promise<string[]>
}

/** A value as one word that no text holds, because words have no `_`. @param kind sets apart what it is the value of */
export const wordFor = (kind: string, value: string): string => `${kind}_${Bun.hash.xxHash3(value).toString(36)}`
