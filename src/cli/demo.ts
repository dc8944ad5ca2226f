import type { AppDeps } from '../app.ts'
import type { Config } from '../config.ts'
import type { Instance } from '../instance.ts'
import { OperatorError } from '../lib/errors.ts'
import { handleOf } from '../lib/words.ts'
import { audit, system, timesDone } from '../modules/audit/service.ts'
import { createBlog } from '../modules/blog/service.ts'
import { createCollection, setCollectionProducts } from '../modules/catalog/collections.ts'
import { createProduct } from '../modules/catalog/service.ts'
import { signUpCustomer } from '../modules/customer/service.ts'
import { createMerchant, createSuperAdmin } from '../modules/merchant/service.ts'
import { changeShop, contextOf, shopNamed } from '../modules/shop/service.ts'
import type { Shop } from '../modules/shop/store.ts'
import { demoBlogs, demoCollections, demoCustomer, demoMerchant, demoOperator, demoProducts, demoShop } from './demo-data.ts'
import { createProgress } from './progress.ts'
import { serve } from './serve.ts'

/** `souk demo`: a shop with something in it, on the air. Run again, it serves what is there. */
export async function demo(config: Config): Promise<void> {
  await serve(config, { prepare: fill, announce: welcome })
}

/** Fills the demo shop, unless that was done before; a fill that broke off goes on where it was. */
async function fill({ deps }: Instance): Promise<void> {
  const merchant = await deps.userStore.findByEmail(demoMerchant.email)
  if (!merchant && (await deps.userStore.anyUser())) {
    throw new OperatorError(
      'This database holds a shop of somebody already: `souk demo` needs an empty DATA_DIR of its own, as in `DATA_DIR=./demo souk demo`',
    )
  }
  if (!merchant) await createMerchant(deps, demoMerchant, demoShop, system)
  const shop = await shopNamed(deps, demoShop.name)
  if (await isFilled(deps, shop)) return
  await fillShop(deps, shop)
  const record = audit(deps, system, { action: 'demo.filled', subject: shop.id, shopId: shop.id })
  await deps.db.write(record)
}

const isFilled = async ({ db }: AppDeps, shop: Shop): Promise<boolean> => (await timesDone(db.read, 'demo.filled', shop.id, 0)) > 0

async function fillShop(deps: AppDeps, shop: Shop): Promise<void> {
  const context = contextOf(shop)
  const write = { shop: context, actor: system }
  const progress = createProgress({ total: demoProducts.length, label: 'Filling the demo shop', stream: process.stderr })
  await changeShop(deps, context, { title: demoShop.title, description: demoShop.description }, system)
  if (!(await deps.userStore.anySuperAdmin())) await createSuperAdmin(deps, demoOperator)
  if (!(await deps.customerStore.findByEmail(shop.id, demoCustomer.email)))
    await signUpCustomer(deps, { ...demoCustomer, shopId: shop.id }, 'demo')
  for (const [at, product] of demoProducts.entries()) {
    const handle = handleOf(product.title)
    if (!(await deps.catalogStore.findByHandle(shop.id, handle))) await createProduct(deps, write, { ...product, handle })
    progress.at(at + 1)
  }
  for (const { title, type } of demoCollections) await fillCollection(deps, shop, title, type)
  const { total: blogs } = await deps.blogStore.list({ shopId: shop.id, words: [], publicAt: undefined }, { limit: 1, offset: 0 })
  for (const blog of demoBlogs.slice(blogs)) await createBlog(deps, write, { ...blog, status: 'PUBLISHED', author: demoShop.title })
  progress.end()
}

async function fillCollection(deps: AppDeps, shop: Shop, title: string, type: string): Promise<void> {
  const write = { shop: contextOf(shop), actor: system }
  const handle = handleOf(title)
  const known = await deps.collectionStore.findPublished(shop.id, handle, deps.clock.now())
  const { id } = known ?? (await createCollection(deps, write, { title, handle }))
  const members = demoProducts.filter((product) => product.type === type)
  const found = await Promise.all(members.map((product) => deps.catalogStore.findByHandle(shop.id, handleOf(product.title))))
  await setCollectionProducts(
    deps,
    write,
    id,
    found.flatMap((whole) => whole?.product.id ?? []),
  )
}

async function welcome({ deps }: Instance, url: string): Promise<string> {
  const shop = await shopNamed(deps, demoShop.name)
  const key = await deps.shopStore.currentKey(shop.id, 'PUBLISHABLE', shop.mode)
  return `souk is ready at ${url}

  Documentation     ${url}/docs
  Products          ${url}/product-v2/public/shop/${shop.name}
  Merchant          ${demoMerchant.email}  /  ${demoMerchant.password}
  Super admin       ${demoOperator.email}  /  ${demoOperator.password}
  Customer          ${demoCustomer.email}  /  ${demoCustomer.password}
  Publishable key   ${key?.publicValue ?? ''}

These passwords are the same everywhere: keep a demo on this machine. Ctrl-C stops it.
`
}
