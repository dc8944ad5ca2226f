/**
 * Imports a file into a shop in small chunks. Before each chunk it prints the bytes read and waits for standard input.
 */
import { writeSync } from 'node:fs'
import type { Config } from '../../src/config.ts'
import { system } from '../../src/core/command-context.ts'
import { openInstance } from '../../src/instance.ts'
import { importProducts } from '../../src/modules/catalog/import-export/import.ts'
import { contextOf } from '../../src/modules/shop/shop/service.ts'

const [config = '', shopName = '', path = ''] = Bun.argv.slice(2)
const { deps, close } = await openInstance({ config: JSON.parse(config) as Config, as: 'command' })
const shop = await deps.shopStore.findByName(shopName)
if (!shop) throw new Error('must be a shop of this instance')
const bytes = await Bun.file(path).bytes()
const pieceBytes = 2_000

const stdin = Bun.stdin.stream().getReader()
let read = 0

async function* pieces(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const piece = bytes.subarray(at, at + pieceBytes)
    writeSync(1, `${read}\n`)
    await stdin.read()
    read += piece.length
    yield piece
  }
}

await importProducts(deps, { shop: contextOf(shop), actor: system }, pieces, {
  dryRun: false,
  overwrite: false,
  currency: shop.currency,
})
await stdin.cancel()
await close()
