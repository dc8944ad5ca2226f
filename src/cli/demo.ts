import type { Config } from '../config.ts'
import { demoCustomer, demoOperator, demoShop } from '../demo/data.ts'
import { demoShops, fillDemo } from '../demo/fill.ts'
import { demoProcessors } from '../demo/processors.ts'
import type { Instance } from '../instance.ts'
import { listOrders } from '../modules/order/index.ts'
import { currentKeys, shopNamed } from '../modules/shop/index.ts'
import { serve } from './serve.ts'

const stoppedEarly = 'Stopped: the demo is not filled yet. Nothing is lost: `souk demo` goes on where it was'

/** `souk demo`: shops with a year behind them, on the air. Run again, it serves what is there. */
export async function demo(config: Config): Promise<void> {
  await serve(config, { processors: demoProcessors, stoppedEarly, prepare: ({ deps }) => fillDemo(deps), announce: welcome })
}

async function welcome({ deps }: Instance, url: string): Promise<string> {
  const shop = await shopNamed(deps, demoShop.name)
  const { publishable, secret } = await currentKeys(deps, shop)
  const { total: orders } = await listOrders(deps, { shopId: shop.id }, { page: 1, limit: 1, offset: 0 })
  const { email, password } = demoShop.merchant
  const others = demoShops.filter(({ name }) => name !== demoShop.name).map(({ merchant, currency }) => `${merchant.email} (${currency})`)
  return `souk is ready at ${url}

  Documentation     ${url}/docs
  Products          ${url}/product-v2/public/shop/${shop.name}
  Orders            ${url}/v2/orders  (${orders}, with the secret key)
  Merchant          ${email}  /  ${password}
  More merchants    ${others.join(', ')}  /  ${password}
  Super admin       ${demoOperator.email}  /  ${demoOperator.password}
  Customer          ${demoCustomer.email}  /  ${demoCustomer.password}
  Publishable key   ${publishable}
  Secret key        ${secret}

These passwords are the same everywhere: keep a demo on this machine. Ctrl-C stops it.
`
}
