/**
 * The bare floor: `Bun.serve` with routes and one prepared bun:sqlite statement a route, on the same file, answering the
 * same bytes and headers as souk. What souk does besides (checks, limits, errors, counting) is what the ratio measures.
 */
import { Database as Sqlite } from 'bun:sqlite'

const [file = '', shopId = ''] = Bun.argv.slice(2)
const db = new Sqlite(file, { readonly: true })
db.run('PRAGMA cache_size = -32000')
const byId = db.prepare<{ document: string; etag: string }, [string]>(
  'SELECT document, etag FROM product_documents WHERE product_id = ? LIMIT 1',
)
const page = db.prepare<{ document: string }, [string, number]>(
  'SELECT document FROM product_documents WHERE shop_id = ? ORDER BY newest_key DESC LIMIT 20 OFFSET ?',
)

const headers = (etag: string) => ({
  'content-type': 'application/json;charset=utf-8',
  etag,
  'cache-control': 'public, max-age=0, s-maxage=60',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'etag, retry-after, x-request-id',
  'x-request-id': crypto.randomUUID(),
  'x-content-type-options': 'nosniff',
})
const notModifiedHeaders = () => {
  const { 'content-type': _, ...rest } = headers('"any-etag-of-this-length"')
  return rest
}
const missing = () => Response.json({ statusCode: 404, message: 'No such product', error: 'Not Found' }, { status: 404 })

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  routes: {
    '/product-v2/public/:id': (request) => {
      const row = byId.get(request.params.id)
      return row ? new Response(row.document, { headers: headers(row.etag) }) : missing()
    },
    /** As the same floor would be written by hand: the row's JSON column parsed, and Response.json. */
    '/parsed/:id': (request) => {
      const row = byId.get(request.params.id)
      return row ? Response.json(JSON.parse(row.document), { headers: headers(row.etag) }) : missing()
    },
    '/product-v2/public/shop/:shopName': (request) => {
      const nth = Number(new URL(request.url).searchParams.get('page') ?? 1)
      const rows = page.all(shopId, (nth - 1) * 20)
      const body = `{"data":[${rows.map(({ document }) => document).join(',')}],"page":${nth},"limit":20,"total":0,"pages":0}`
      return new Response(body, { headers: headers(`"${Bun.hash.xxHash3(body).toString(36)}"`) })
    },
    /** The smallest answer with the headers that a 304 has, and the smallest there is. */
    '/smallest/:id': () => new Response(null, { status: 304, headers: notModifiedHeaders() }),
    '/bare/:id': () => new Response(null, { status: 304 }),
  },
  fetch: missing,
})
process.stdout.write(`http://127.0.0.1:${server.port}\n`)
