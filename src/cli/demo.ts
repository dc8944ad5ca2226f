import type { Config } from '../config.ts'
import { demoCustomer, demoOperator, demoShop } from '../demo/data.ts'
import { demoShops, fillDemo } from '../demo/fill.ts'
import { type DemoPayments, startPayments } from '../demo/payments.ts'
import { pastProcessors } from '../demo/processors.ts'
import { demoCarefulOperator } from '../demo/second-factor.ts'
import { demoStaff } from '../demo/staff.ts'
import type { Instance } from '../instance.ts'
import { listOrders } from '../modules/selling/order/index.ts'
import { currentKeys, findShopByName } from '../modules/shop/shop/index.ts'
import { serve } from './serve.ts'

const notReadyText = 'Stopped: the demo is not filled yet. Nothing is lost: `souk demo` goes on where it was'

/** `souk demo`: serves shops with a year of history and simulated processors. Later runs serve the same shops. */
export async function demo(input: Config): Promise<void> {
  const payments = await startPayments()
  const { config: paid, leftOut } = payments.configured(input)
  // Documents stay on this machine like everything else.
  const config = Object.freeze({ ...paid, lendingPlatformEnabled: true, documentsS3Endpoint: undefined })
  try {
    await serve(config, {
      processors: pastProcessors,
      notReadyText,
      // Sends no mail about the invented past, even if a mail server is set.
      prepare: ({ deps }) => fillDemo({ ...deps, config: Object.freeze({ ...config, smtpUrl: undefined }) }),
      announce: (instance, url) => {
        payments.tellTo(url)
        return welcome(instance, { url, payments, leftOut })
      },
    })
  } catch (error) {
    // A failed start must not keep the process alive.
    await payments.close()
    throw error
  }
}

type Served = { readonly url: string; readonly payments: DemoPayments; readonly leftOut: readonly string[] }

async function welcome({ deps }: Instance, { url, payments: { pages }, leftOut }: Served): Promise<string> {
  const shop = await findShopByName(deps, demoShop.name)
  const { publishable, secret } = await currentKeys(deps, shop)
  const { total: orders } = await listOrders(deps, { shopId: shop.id }, { page: 1, limit: 1, offset: 0 })
  const { email, password } = demoShop.merchant
  const staff = demoStaff.people.map(({ email: address, role }) => `${address} (${role})`)
  const otherShops = demoShops
    .filter(({ name }) => name !== demoShop.name)
    .map(({ merchant, currency }) => `${merchant.email} (${currency})`)
  return `souk is ready at ${url}

  Console           ${url}/console  (as a merchant, their staff or the super admin)
  Documentation     ${url}/docs
  Products          ${url}/product-v2/public/shop/${shop.name}
  Ways to pay       ${url}/checkout/${shop.name}/payment-intent-resolver
  Orders            ${url}/v2/orders  (${orders}, with the secret key)
  Loans             ${url}/admin/lending-application  (as the super admin)
  Merchant          ${email}  /  ${password}
  More merchants    ${otherShops.join(', ')}  /  ${password}
  Staff             ${staff.join(', ')}  /  ${demoStaff.password}
  Super admin       ${demoOperator.email}  /  ${demoOperator.password}
  With a code       ${demoCarefulOperator.email}  /  ${demoCarefulOperator.password}  (and a code: the secret for an authenticator app is ${demoCarefulOperator.secret})
  Customer          ${demoCustomer.email}  /  ${demoCustomer.password}
  Publishable key   ${publishable}
  Secret key        ${secret}

The processors are played by this process. Where a checkout is paid, with one click:

  Stripe            ${pages.stripe}CLIENT_SECRET
  Checkout.com      ${pages.checkout}PAYMENT_SESSION_ID
  The others        the answer of the checkout has the address: redirectUrl (Tap), shortUrl (QPay), approveUrl (PayPal), checkoutLink (BTCPay)
${leftOut.length > 0 ? `\nLeft out, because the settings have keys for them, which a demo never uses: ${leftOut.join(', ')}\n` : ''}
These passwords are the same everywhere: keep a demo on this machine. Ctrl-C stops it.
`
}
