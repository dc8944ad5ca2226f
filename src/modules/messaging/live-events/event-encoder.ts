import type { LiveEvent } from './domain.ts'
import type { EventCursors } from './event-cursor.ts'
import type { EventBatch } from './event-reader.ts'

const encoder = new TextEncoder()
const textOf = ({ name, data }: LiveEvent, id: string | undefined): string =>
  `event: ${name}\ndata: ${JSON.stringify(data)}\n${id === undefined ? '' : `id: ${id}\n`}\n`

/** Encodes the field that tells a client how long to wait before it reconnects. */
export const encodeRetry = (ms: number): Uint8Array => encoder.encode(`retry: ${ms}\n\n`)

export type EventEncoder = ReturnType<typeof createEventEncoder>

/** Creates the encoder of server-sent events, and counts the encoded ones. */
export function createEventEncoder({ idOf }: Pick<EventCursors, 'idOf'>) {
  let count = 0
  return {
    count: () => count,
    /** Returns `idOf` with a cache, because a page repeats cursors. */
    cachedIds(): (cursor: string) => string {
      const ids = new Map<string, string>()
      return (cursor) => ids.getOrInsertComputed(cursor, idOf)
    },
    /** Encodes a page for a viewer. The last event of each commit has the id. */
    page(batches: readonly EventBatch[], seesCatalog: boolean, idOfCursor: (cursor: string) => string): Uint8Array | undefined {
      const texts = batches.flatMap(({ events, cursor }) => {
        const visible = seesCatalog ? events : events.filter(({ audience }) => audience !== 'catalog')
        return visible.map((event) => textOf(event, event === visible.at(-1) ? idOfCursor(cursor) : undefined))
      })
      if (texts.length === 0) return undefined
      count += texts.length
      return encoder.encode(texts.join(''))
    },
    /** Encodes a cursor without an event. */
    position: (cursor: string): Uint8Array => encoder.encode(`:\nid: ${idOf(cursor)}\n\n`),
    /** Encodes the event that makes a client reload. */
    resync: (cursor: string): Uint8Array =>
      encoder.encode(textOf({ name: 'resync', data: {}, shopId: null, audience: 'orders' }, idOf(cursor))),
  }
}
