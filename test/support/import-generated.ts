/** Imports a large generated file into a shop. Prints the report and the largest growth of the process's memory. */
import { writeSync } from 'node:fs'
import type { Config } from '../../src/config.ts'
import { system } from '../../src/core/command-context.ts'
import { openInstance } from '../../src/instance.ts'
import { importProducts } from '../../src/modules/catalog/import-export/import.ts'
import { contextOf } from '../../src/modules/shop/shop/service.ts'

const [config = '', shopName = '', products = '0', rowsPerProduct = '1'] = Bun.argv.slice(2)
const { deps, close } = await openInstance({ config: JSON.parse(config) as Config, as: 'command' })
const shop = await deps.shopStore.findByName(shopName)
if (!shop) throw new Error('must be a shop of this instance')
const filler = 'lorem ipsum '.repeat(3_200)
const encoder = new TextEncoder()
let fileBytes = 0

/** The product uses the description of its first row only. All other rows have a long one, to make the file large. */
const rowOf = (product: number, row: number) =>
  row === 0 ? `p-${product},Product ${product},short,Size,0,1.00\n` : `p-${product},,${filler},,${row},1.00\n`

async function* source(): AsyncGenerator<Uint8Array> {
  fileBytes = 0
  yield encoder.encode('Handle,Title,Body (HTML),Option1 Name,Option1 Value,Variant Price\n')
  for (let product = 0; product < Number(products); product++) {
    const rows = Array.from({ length: Number(rowsPerProduct) }, (_, row) => rowOf(product, row))
    const bytes = encoder.encode(rows.join(''))
    fileBytes += bytes.length
    yield bytes
  }
}

Bun.gc(true)
const before = process.memoryUsage().rss
let most = before
const onProgress = () => {
  most = Math.max(most, process.memoryUsage().rss)
}
const options = { dryRun: false, overwrite: false, currency: shop.currency, onProgress }
const report = await importProducts(deps, { shop: contextOf(shop), actor: system }, source, options)
writeSync(1, `${JSON.stringify({ report, fileBytes, grownBytes: most - before })}\n`)
await close()
