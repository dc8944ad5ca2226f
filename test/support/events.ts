/** Reads event streams (SSE), as a page does. */
import type { TestApp } from './app.ts'

export type ReceivedEvent = { event: string; data: Record<string, unknown>; id: string | undefined }
export type Stream = Awaited<ReturnType<typeof streamIn>>

/** Parses the text of a stream. Returns an incomplete last event as `rest`. */
export function parseEvents(text: string): { events: ReceivedEvent[]; ids: string[]; rest: string } {
  const blocks = text.split('\n\n')
  const rest = blocks.pop() ?? ''
  const events: ReceivedEvent[] = []
  const ids: string[] = []
  for (const block of blocks) {
    const fields = new Map(
      block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trimStart()]),
    )
    const id = fields.get('id')
    if (id !== undefined) ids.push(id)
    const data = fields.get('data')
    if (data !== undefined) events.push({ event: fields.get('event') ?? 'message', data: JSON.parse(data), id })
  }
  return { events, ids, rest }
}

type StreamOptions = { token?: string; key?: string; lastEventId?: string | undefined; headers?: Record<string, string> }
const headersOf = ({ token, key, lastEventId, headers = {} }: StreamOptions) => ({
  ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  ...(key === undefined ? {} : { 'x-service-api-key': key }),
  ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
  ...headers,
})

/** Reads the event stream of a response in the background. */
export function followStream(response: Response) {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  const events: ReceivedEvent[] = []
  let rest = ''
  let lastId: string | undefined
  let isOver = false
  let arrived = Promise.withResolvers<void>()
  const reading = (async () => {
    try {
      for (;;) {
        const piece = await reader?.read()
        if (!piece || piece.done) break
        const found = parseEvents(rest + decoder.decode(piece.value, { stream: true }))
        rest = found.rest
        events.push(...found.events)
        lastId = found.ids.at(-1) ?? lastId
        arrived.resolve()
        arrived = Promise.withResolvers()
      }
    } catch {
      // The connection was cut.
    }
    isOver = true
    arrived.resolve()
  })()
  return {
    status: response.status,
    headers: response.headers,
    events,
    lastId: () => lastId,
    isOver: () => isOver,
    ended: () => reading,
    /** Waits until a condition is true. @throws Error if the stream ends before */
    async until(isSo: () => boolean): Promise<void> {
      while (!isSo()) {
        if (isOver) throw new Error(`the stream is over after ${events.map(({ event }) => event).join(' ')}`)
        await arrived.promise
      }
    },
    async close(): Promise<void> {
      await reader?.cancel().catch(() => undefined)
      await reading
    },
  }
}

/** Opens a stream in process. Resolves after its first id, or when it is refused. */
export async function streamIn(app: Pick<TestApp, 'edge' | 'deps'>, path: '/v2/events' | '/admin/events', asking: StreamOptions) {
  const request = new Request(`http://localhost${path}`, { headers: headersOf(asking) })
  const stream = followStream(await app.edge.fetch(request, { requestIP: () => ({ address: '127.0.0.1' }) }))
  if (stream.status === 200) await stream.until(() => stream.lastId() !== undefined)
  return stream
}

/** Opens a stream of a listening server. Resolves after its first id, or when it is refused. */
export async function streamFrom(url: string, path: '/v2/events' | '/admin/events', asking: StreamOptions) {
  const stream = followStream(await fetch(`${url}${path}`, { headers: headersOf(asking) }))
  if (stream.status === 200) await stream.until(() => stream.lastId() !== undefined)
  return stream
}
