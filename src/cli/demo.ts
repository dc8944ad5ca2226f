import type { Config } from '../config.ts'
import { demoCustomer, demoOperator, demoShop } from '../demo/data.ts'
import { demoDiscountCodes } from '../demo/discounts.ts'
import { demoShops, fillDemo } from '../demo/fill.ts'
import { type DemoPayments, startPayments } from '../demo/payments.ts'
import { demoGiftCardCode } from '../demo/plan.ts'
import { pastProcessors } from '../demo/processors.ts'
import { demoTwoFactorOperator } from '../demo/second-factor.ts'
import { demoStaff } from '../demo/staff.ts'
import type { Instance } from '../instance.ts'
import { createLineWriter, holdLines } from '../lib/line-writer.ts'
import { isThisMachine } from '../lib/processor-keys.ts'
import { sandboxResults, sandboxTokens } from '../modules/payments/sandbox/domain.ts'
import { listDrafts } from '../modules/selling/draft-order/index.ts'
import { listOrders } from '../modules/selling/order/index.ts'
import { currentKeys, findShopByName } from '../modules/shop/shop/index.ts'
import { checkPort } from '../server.ts'
import { serve } from './serve.ts'
import { notesOf } from './start-notes.ts'

const notReadyText = 'Stopped before the sample data was complete. Run `souk demo` again to resume'

/**
 * Networks of this machine, whose platform profiles the demo reads by http. `localhost` often has an address in each.
 */
export const profileNetworks = ['127.0.0.0/8', '::1']

/** `souk demo`: serves shops with a year of history and simulated processors. Later runs serve the same shops. */
export async function demo(input: Config): Promise<void> {
  const payments = await startPayments()
  // On a terminal the log starts after the banner. Elsewhere a program may read it from the start.
  const logLines = process.stderr.isTTY ? holdLines(createLineWriter(process.stderr)) : undefined
  const { config: paid, leftOut } = payments.configured(input)
  // Documents stay on this machine like everything else.
  // Agents need no login, so they only reach the demo from this machine.
  const agentsEnabled = input.agentsEnabled || isThisMachine(input.host)
  const agentsProfileNetworks = [...input.agentsProfileNetworks, ...profileNetworks]
  const config = Object.freeze({
    ...paid,
    ...{ lendingPlatformEnabled: true, documentsS3Endpoint: undefined, agentsEnabled, agentsProfileNetworks },
  })
  try {
    await serve(config, {
      processors: pastProcessors,
      notReadyText,
      ...(logLines ? { lines: logLines } : {}),
      // Sends no mail about the invented past, even if a mail server is set.
      prepare: async ({ deps }) => {
        await checkPort(config)
        await fillDemo({ ...deps, config: Object.freeze({ ...config, smtpUrl: undefined }) })
      },
      announce: async (instance, url) => {
        payments.tellTo(url)
        return welcome(instance, { url, payments, leftOut, notes: () => notesOf(logLines?.release() ?? []) })
      },
    })
  } catch (error) {
    logLines?.flush()
    // A failed start must not keep the process alive.
    await payments.close()
    throw error
  }
}

type Served = {
  readonly url: string
  readonly payments: DemoPayments
  readonly leftOut: readonly string[]
  /** Read last, after all lines of the start. */
  notes(): readonly string[]
}

async function welcome({ deps }: Instance, { url, payments: { pages }, leftOut, notes }: Served): Promise<string> {
  const shop = await findShopByName(deps, demoShop.name)
  const { publishable, secret } = await currentKeys(deps, shop)
  const { total: orders } = await listOrders(deps, { shopId: shop.id }, { page: 1, limit: 1, offset: 0 })
  const { email, password } = demoShop.merchant
  const staff = demoStaff.people.map(({ email: address, role }) => `${address} (${role})`)
  const otherShops = demoShops
    .filter(({ name }) => name !== demoShop.name)
    .map(({ merchant, currency }) => `${merchant.email} (${currency})`)
  const { data: drafts } = await listDrafts(deps, { shopId: shop.id, status: 'OPEN' }, { page: 1, limit: 1, offset: 0 })
  const more = [
    ...drafts.map(({ payUrl }) => `  Draft order       ${payUrl}  (a link that a customer pays by)\n`),
    ...(leftOut.length > 0
      ? [`\nNot simulated, because the settings contain keys for them, which the demo never uses: ${leftOut.join(', ')}\n`]
      : []),
    ...notes().map((note) => `\n${note}\n`),
  ]
  return `souk is ready at ${url}

  Console           ${url}/console
  API reference     ${url}/docs

Logins (email / password):

  Merchant          ${email}  /  ${password}
  More merchants    ${otherShops.join(', ')}  /  ${password}
  Staff             ${staff.join(', ')}  /  ${demoStaff.password}
  Administrator     ${demoOperator.email}  /  ${demoOperator.password}
  Two-factor login  ${demoTwoFactorOperator.email}  /  ${demoTwoFactorOperator.password}  (authenticator secret: ${demoTwoFactorOperator.secret})
  Customer          ${demoCustomer.email}  /  ${demoCustomer.password}

API of the shop ${shop.name}:

  Publishable key   ${publishable}
  Secret key        ${secret}
  Products          ${url}/product-v2/public/shop/${shop.name}
  Payment methods   ${url}/checkout/${shop.name}/payment-intent-resolver
  Orders            ${url}/v2/orders  (${orders}; needs the secret key)
${deps.config.agentsEnabled ? `  Assistants        ${url}/ucp/${shop.name}/mcp  (MCP: they find products, fill carts and buy)\n` : ''}  Loans             ${url}/admin/lending-application  (needs the administrator's token)

Simulated payment processors (no real money). Pay a checkout with one click at:

  Stripe            ${pages.stripe}CLIENT_SECRET
  Checkout.com      ${pages.checkout}PAYMENT_SESSION_ID
  Others            see the checkout's response: redirectUrl (Tap), shortUrl (QPay), approveUrl (PayPal), checkoutLink (BTCPay)

Test payments (sandbox): check out with "processor": "sandbox". It needs no page. "paymentToken" sets the result:

${sandboxTokens.map((token) => `  ${token.padEnd(16)}  ${sandboxResults[token]}`).join('\n')}

To try at a checkout of the shop ${shop.name}:

  Discount codes    ${demoDiscountCodes.join(', ')}
  Gift card         ${demoGiftCardCode}
${more.join('')}
These passwords are public: don't expose the demo to a network. Press Ctrl-C to stop.
`
}
