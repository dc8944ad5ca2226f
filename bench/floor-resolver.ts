/**
 * The bare floor of the resolver: `Bun.serve` with one route that returns bytes and headers of souk's response from
 * memory.
 * It returns the request's id, and 304 for the ETag. It has no limits and no other checks. `/smallest` always returns
 * 304, to measure the cost of Bun itself.
 */
const [body = '', etag = ''] = Bun.argv.slice(2)

const headers = (requestId: string | null = null) => ({
  etag,
  'cache-control': 'public, max-age=0, s-maxage=60',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'etag, idempotent-replayed, retry-after, x-request-id',
  'x-request-id': requestId ?? crypto.randomUUID(),
  'x-content-type-options': 'nosniff',
})

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  routes: {
    '/checkout/:shopUrl/payment-intent-resolver': ({ headers: requestHeaders }) => {
      const all = headers(requestHeaders.get('x-request-id'))
      return requestHeaders.get('if-none-match') === etag
        ? new Response(null, { status: 304, headers: all })
        : new Response(body, { headers: { 'content-type': 'application/json;charset=utf-8', ...all } })
    },
    '/smallest/:id': () => new Response(null, { status: 304, headers: headers() }),
  },
  fetch: () => new Response(null, { status: 404 }),
})
process.stdout.write(`http://127.0.0.1:${server.port}\n`)
