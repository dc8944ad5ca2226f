/** The same request to the server, which answers hot reads ahead of the framework, and to the route alone: nobody can tell the two apart. */
import { expect } from 'bun:test'
import type { TestApp } from './app.ts'
import { serveTestApp } from './server.ts'

export type TestRequest = { method?: string; headers?: Record<string, string> }
export type TestResponse = { status: number; body: string; headers: Record<string, string> }

/** Queries that no URL may have, also where queries are ignored. */
export const invalidQueries = ['?y=%00', '?y=%zz', '?y=%ff', '?%00', `?${'y'.repeat(8_200)}`]

async function seen(response: Response, ...without: string[]): Promise<TestResponse> {
  const headers = Object.fromEntries(response.headers)
  for (const name of ['x-request-id', 'date', ...without]) delete headers[name]
  return { status: response.status, body: await response.text(), headers }
}

/** The app on a real server, and both ways to ask it. */
export function serverAndRoute(app: TestApp) {
  const server = serveTestApp(app)
  const { host } = new URL(server.url)
  const viaServer = async (path: string, { method = 'GET', headers = {} }: TestRequest = {}) => {
    const response = await fetch(server.url + path, { method, headers })
    const length = response.headers.get('content-length')
    const answer = await seen(response, 'content-length')
    // What goes over the wire has its length; in process there is none.
    if (method === 'GET' && answer.status !== 304) expect(length).toBe(String(Buffer.byteLength(answer.body)))
    return { ...answer, length }
  }
  const viaRoute = async (path: string, { method = 'GET', headers = {} }: TestRequest = {}) => {
    const request = new Request(server.url + path, { method, headers: { host, ...headers } })
    return seen(await app.edge.fetch(request, { requestIP: () => ({ address: '127.0.0.1' }) }))
  }
  /** The answer that both give. */
  async function same(path: string, sent: TestRequest = {}): Promise<TestResponse> {
    // The second time the record is in memory.
    for (const nth of [1, 2]) {
      const { length: _, ...answer } = await viaServer(path, sent)
      expect([path, sent, nth, answer]).toEqual([path, sent, nth, await viaRoute(path, sent)])
    }
    return viaRoute(path, sent)
  }
  return { server, same, viaServer, viaRoute, [Symbol.asyncDispose]: () => server.stop() }
}
