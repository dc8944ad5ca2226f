/** Creates shops with products in an empty Postgres database and prints them. DATABASE_URL chooses the columns. */
import { parseConfig } from '../src/config.ts'
import { system } from '../src/core/command-context.ts'
import { openInstance } from '../src/instance.ts'
import { createMerchant } from '../src/modules/identity/merchant/service.ts'
import { contextOf, readPrivateKey } from '../src/modules/shop/shop/service.ts'
import type { ShopToBuyIn } from './callers.ts'
import { benchSettings } from './seed.ts'

const products = 20
const [dataDir = '', count = '1'] = Bun.argv.slice(2)
const config = parseConfig({ ...benchSettings(dataDir), DATABASE_URL: Bun.env['DATABASE_URL'] ?? '' })
const { deps, edge, close } = await openInstance({ config, as: 'server' })
const peer = { requestIP: () => ({ address: '127.0.0.1' }) }

const shops: ShopToBuyIn[] = []
for (let nth = 0; nth < Number(count); nth++) {
  const login = { email: `bench${nth}@example.com`, password: 'bench-password' }
  const { shop } = await createMerchant(deps, login, { name: `bench-${nth}`, currency: 'USD', country: 'US' }, system)
  const secretKey = await readPrivateKey(deps, { shop: contextOf(shop), actor: system })
  const publishable = await deps.shopStore.currentKey(shop.id, 'PUBLISHABLE', 'TEST')
  const headers = { host: 'localhost', 'content-type': 'application/json', 'x-service-api-key': secretKey }
  const variantIds = await Promise.all(
    Array.from({ length: products }, async (_, one): Promise<string> => {
      const variants = [{ price: { amount: 1_000 + one, currency: 'USD' }, sku: `SKU-${one}`, onHand: 1_000_000 }]
      const body = JSON.stringify({ title: `Product ${one}`, handle: `product-${one}`, status: 'ACTIVE', variants })
      const answer = await edge.fetch(new Request('http://localhost/product-v2', { method: 'POST', headers, body }), peer)
      if (answer.status !== 201) throw new Error(`a product was answered ${answer.status}`)
      return ((await answer.json()) as { variants: [{ id: string }] }).variants[0].id
    }),
  )
  shops.push({ shopId: shop.id, publishableKey: publishable?.publicValue ?? '', variantIds })
}
await close()
process.stdout.write(JSON.stringify(shops))
process.exit(0)
