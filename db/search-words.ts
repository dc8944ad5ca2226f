import type { Reader, Writer } from './engine.ts'

export type SearchableProduct = {
  productId: string
  shopId: string
  visibleFrom: number
  words: readonly string[]
  /** In lower case. */
  tags: readonly string[]
}
export type SearchQuery = {
  shopId: string
  words: readonly string[]
  /** Products that become visible later do not match. Milliseconds. */
  now: number
  /** Only products that carry this tag, in lower case. */
  tag?: string | undefined
  /** Only products of this collection. */
  collectionId?: string | undefined
  limit: number
}

export interface ProductSearch {
  /** Makes the product findable; it must not be indexed yet. */
  add(tx: Writer, product: SearchableProduct): Promise<void>
  /** Forgets the product, if it was indexed. */
  remove(tx: Writer, productId: string): Promise<void>
  /** Ids of the products that hold every word, newest first. */
  find(read: Reader, query: SearchQuery): Promise<string[]>
}

/** A tag is one more word, which no text can hold: that of all words that are asked for, the rarest decides the cost. */
export const tagWord = (tag: string) => `_${Bun.hash.xxHash3(tag).toString(36)}`
/** All that a product is found by. */
export const wordsAndTags = ({ words, tags }: SearchableProduct) => [...words, ...tags.map(tagWord)]
/** All that a query asks for. */
export const wanted = ({ words, tag }: SearchQuery) => (tag === undefined ? words : [...words, tagWord(tag)])
