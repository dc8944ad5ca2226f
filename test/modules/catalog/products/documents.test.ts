/** Tests that the cache of product documents is bounded and never stale. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createDocumentCache } from '../../../../src/modules/catalog/products/document-cache.ts'
import type { StoredDocument } from '../../../../src/modules/catalog/products/store.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type Deps = Parameters<typeof createDocumentCache>[0]

/** Creates a cache of documents on a store in memory that counts its reads. */
function createTestCache({ foreign = 0, isAsync = false }: { foreign?: number | undefined; isAsync?: boolean } = {}) {
  const stored = new Map<string, StoredDocument>()
  const state = { foreign: foreign as number | undefined, reads: 0 }
  const documents = createDocumentCache({
    db: { foreignVersion: () => state.foreign } as Deps['db'],
    config: {} as Deps['config'],
    life: { stopping: false },
    catalogStore: {
      findDocument: (id: string) => {
        state.reads++
        return isAsync ? Promise.resolve(stored.get(id)) : stored.get(id)
      },
    } as Deps['catalogStore'],
  })
  const put = (id: string, document: string, version = 1) =>
    void stored.set(id, { document, etag: `"${id}-${version}"`, visibleFrom: 0, shopId: 'shop_1', showQuantity: false, origins: [] })
  const readCachedText = (id: string) => {
    const cached = documents.findCached(id)
    return cached && documents.textOf(id, cached)
  }
  return { documents, stored, state, put, readCachedText }
}

describe('the document cache', () => {
  test('the document cache reads a document once, until it is invalidated', () => {
    const { documents, state, put, readCachedText } = createTestCache()
    put('a', 'first')
    expect([readCachedText('a'), readCachedText('a'), state.reads]).toEqual(['first', 'first', 1])
    put('a', 'second', 2)
    documents.invalidate('a')
    expect([readCachedText('a'), documents.findCached('a')?.etag, state.reads]).toEqual(['second', '"a-2"', 2])
  })

  test('the document cache queries a missing document again each time', () => {
    const { documents, state, put, readCachedText } = createTestCache()
    expect([documents.find('a'), readCachedText('a')]).toEqual([undefined, undefined])
    expect(state.reads).toBeGreaterThanOrEqual(2)
    put('a', 'text')
    expect(readCachedText('a')).toBe('text')
  })

  test('the document cache drops all documents when another process commits', () => {
    const { state, put, stored, readCachedText } = createTestCache()
    put('a', 'first')
    put('b', 'gone')
    expect([readCachedText('a'), readCachedText('b')]).toEqual(['first', 'gone'])
    put('a', 'second', 2)
    stored.delete('b')
    state.foreign = 1
    expect([readCachedText('a'), readCachedText('b')]).toEqual(['second', undefined])
  })

  test('the document cache never serves a changed text under its old ETag', () => {
    const { documents, put } = createTestCache()
    put('a', 'first')
    const cached = documents.findCached('a')
    if (!cached) throw new Error('not cached')
    cached.document = undefined
    put('a', 'second', 2)
    expect(documents.textOf('a', cached)).toBeUndefined()
    expect(documents.find('a')).toMatchObject({ document: 'second', etag: '"a-2"' })
  })

  test('the document cache keeps nothing when the engine cannot detect commits of other processes', () => {
    const { documents, state, put, readCachedText } = createTestCache({})
    state.foreign = undefined
    put('a', 'first')
    expect([readCachedText('a'), documents.find('a')]).toEqual([undefined, expect.objectContaining({ document: 'first' })])
    put('a', 'second', 2)
    expect(documents.find('a')).toMatchObject({ document: 'second' })
  })

  test('the document cache does not keep documents of an asynchronous store, but finds them', async () => {
    const { documents, put, readCachedText } = createTestCache({ isAsync: true })
    put('a', 'first')
    expect(readCachedText('a')).toBeUndefined()
    expect(await documents.find('a')).toMatchObject({ document: 'first' })
    put('a', 'second', 2)
    expect(await documents.find('a')).toMatchObject({ document: 'second' })
  })
})

describe('the size of the document cache', () => {
  test('the document cache holds texts of 13 million characters, and reads evicted ones again correctly', () => {
    const { documents, state, put, readCachedText } = createTestCache()
    const ids = Array.from({ length: 200 }, (_, at) => `p${at}`)
    const text = (id: string, version = 1) => `${id}-${version}-`.padEnd(100_000, 'x')
    for (const id of ids) put(id, text(id))
    for (const id of ids) expect(readCachedText(id) === text(id)).toBe(true)
    const entries = ids.map((id) => documents.findCached(id))
    const entriesWithText = entries.filter((cached) => cached?.document !== undefined)
    expect(entries.every((cached, at) => cached?.etag === `"${ids[at]}-1"`)).toBe(true)
    expect(entriesWithText.length).toBeGreaterThanOrEqual(120)
    expect(entriesWithText.length).toBeLessThanOrEqual(130)
    // Further reads replace the oldest texts, and the size stays bounded.
    const before = state.reads
    for (let round = 0; round < 4; round++) for (const id of ids) expect(readCachedText(id) === text(id)).toBe(true)
    expect(state.reads).toBeGreaterThan(before)
    expect(ids.filter((id) => documents.findCached(id)?.document !== undefined).length).toBeLessThanOrEqual(130)
    for (const id of ids) {
      put(id, text(id, 2), 2)
      documents.invalidate(id)
    }
    for (const id of ids) expect(readCachedText(id) === text(id, 2)).toBe(true)
    const cachedIds = ids.filter((id) => documents.findCached(id)?.document !== undefined)
    expect(cachedIds.length).toBeGreaterThanOrEqual(120)
    expect(cachedIds.length).toBeLessThanOrEqual(130)
  })

  test('the document cache keeps most of its texts when more documents than fit are read in turn', () => {
    const { state, put, readCachedText } = createTestCache()
    const ids = Array.from({ length: 20 }, (_, at) => `doc_${at}`)
    for (const id of ids) put(id, id.padEnd(1_000_000))
    const countReads = () => {
      const before = state.reads
      for (const id of ids) expect(readCachedText(id)?.trim()).toBe(id)
      return state.reads - before
    }
    countReads()
    // About thirteen texts fit, so that at most eight of the twenty are read again.
    for (let round = 0; round < 5; round++) expect(countReads()).toBeLessThanOrEqual(8)
  })

  test('the document cache holds 20,000 ETags, and evicts and rereads the oldest', () => {
    const { state, put, readCachedText } = createTestCache()
    const ids = Array.from({ length: 20_001 }, (_, at) => `p${at}`)
    for (const id of ids) put(id, `text of ${id}`)
    for (const id of ids) expect(readCachedText(id)).toBe(`text of ${id}`)
    expect(state.reads).toBe(20_001)
    expect([readCachedText('p20000'), readCachedText('p1'), state.reads]).toEqual(['text of p20000', 'text of p1', 20_001])
    expect([readCachedText('p0'), state.reads]).toEqual(['text of p0', 20_002])
    expect([readCachedText('p1'), state.reads]).toEqual(['text of p1', 20_003])
  })
})
