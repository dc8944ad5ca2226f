/**
 * The bare floor of refused bodies: `Bun.serve` reads each completely and returns 400, and returns product reads from
 * memory.
 */
const [product = '', etag = ''] = Bun.argv.slice(2)

const headers = () => ({
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'etag, idempotent-replayed, retry-after, x-request-id',
  'x-request-id': crypto.randomUUID(),
  'x-content-type-options': 'nosniff',
})
const refusal = JSON.stringify({ statusCode: 400, message: 'The body has more than it may', error: 'Bad Request' })

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  routes: {
    '/product-v2/public/:id': () =>
      new Response(product, {
        headers: {
          'content-type': 'application/json;charset=utf-8',
          etag,
          'cache-control': 'public, max-age=0, s-maxage=60',
          ...headers(),
        },
      }),
  },
  async fetch(request) {
    await request.bytes()
    return new Response(refusal, {
      status: 400,
      headers: { 'content-type': 'application/json;charset=utf-8', 'cache-control': 'no-store', ...headers() },
    })
  },
})
process.stdout.write(`http://127.0.0.1:${server.port}\n`)

export {}
