/** Compares the responses of the server's fast path and of the route: they must be equal. */
import { expect } from 'bun:test'
import type { TestApp } from './app.ts'
import { serveTestApp } from './server.ts'

export type TestRequest = { method?: string; headers?: Record<string, string> }
export type TestResponse = { status: number; body: string; headers: Record<string, string> }

/** Query strings that are refused, also on paths that ignore their query. */
export const invalidQueries = ['?y=%00', '?y=%zz', '?y=%ff', '?%00', `?${'y'.repeat(8_200)}`]

async function comparableResponse(response: Response, ...without: string[]): Promise<TestResponse> {
  const headers = Object.fromEntries(response.headers)
  for (const name of ['x-request-id', 'date', ...without]) delete headers[name]
  return { status: response.status, body: await response.text(), headers }
}

/** Serves an app on a real port. `same` sends a request to both and expects equal responses. */
export function serverAndRoute(app: TestApp) {
  const server = serveTestApp(app)
  const { host } = new URL(server.url)
  const viaServer = async (path: string, { method = 'GET', headers = {} }: TestRequest = {}) => {
    const response = await fetch(server.url + path, { method, headers })
    const length = response.headers.get('content-length')
    const answer = await comparableResponse(response, 'content-length')
    // Only responses over the wire have a Content-Length.
    if (method === 'GET' && answer.status !== 304) expect(length).toBe(String(Buffer.byteLength(answer.body)))
    return { ...answer, length }
  }
  const viaRoute = async (path: string, { method = 'GET', headers = {} }: TestRequest = {}) => {
    const request = new Request(server.url + path, { method, headers: { host, ...headers } })
    return comparableResponse(await app.edge.fetch(request, { requestIP: () => ({ address: '127.0.0.1' }) }))
  }
  /** Returns the response, after checking that server and route return the same. */
  async function same(path: string, sent: TestRequest = {}): Promise<TestResponse> {
    // The second request reads from the cache.
    for (const nth of [1, 2]) {
      const { length: _, ...answer } = await viaServer(path, sent)
      expect([path, sent, nth, answer]).toEqual([path, sent, nth, await viaRoute(path, sent)])
    }
    return viaRoute(path, sent)
  }
  return { server, same, viaServer, viaRoute, [Symbol.asyncDispose]: () => server.stop() }
}
