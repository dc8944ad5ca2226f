/** The bare floor of the resolver: `Bun.serve` with one route, and the bytes and headers of souk's answer from memory. It limits nobody. */
const [body = '', etag = ''] = Bun.argv.slice(2)

const headers = () => ({
  etag,
  'cache-control': 'public, max-age=0, s-maxage=60',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'etag, idempotent-replayed, retry-after, x-request-id',
  'x-request-id': crypto.randomUUID(),
  'x-content-type-options': 'nosniff',
})

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  routes: {
    '/checkout/:shopUrl/payment-intent-resolver': () =>
      new Response(body, { headers: { 'content-type': 'application/json;charset=utf-8', ...headers() } }),
    /** The smallest answer with the headers that a 304 has. */
    '/smallest/:id': () => new Response(null, { status: 304, headers: headers() }),
  },
  fetch: () => new Response(null, { status: 404 }),
})
process.stdout.write(`http://127.0.0.1:${server.port}\n`)
