/** The floor of a start: `Bun.serve` and one prepared statement on the same file. Prints its address when ready. */
import { Database as Sqlite } from 'bun:sqlite'

const [file = ''] = Bun.argv.slice(2)
const db = new Sqlite(file, { readonly: true })
const byId = db.prepare<{ document: string }, [string]>('SELECT document FROM product_documents WHERE product_id = ? LIMIT 1')

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  routes: {
    '/product-v2/public/:id': (request) => {
      const row = byId.get(request.params.id)
      return row ? new Response(row.document) : new Response(null, { status: 404 })
    },
  },
  fetch: () => new Response(null, { status: 404 }),
})
process.stdout.write(`http://127.0.0.1:${server.port}\n`)
