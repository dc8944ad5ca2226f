import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, notModified } from '../../../http/schema.ts'
import { assertOriginOf } from '../../../http/shop.ts'
import { type CatalogDeps, invalidateShopDocuments } from '../../catalog/products/index.ts'
import {
  auditRepeatedKeyReading,
  changeShop,
  ensureCustodyWallet,
  findPublicShopByName,
  readPrivateKey,
  readPublicIdentity,
  readShop,
  rotatePrivateKey,
  type ShopDeps,
  setShippingMethods,
  setTaxRates,
} from './index.ts'
import {
  ChangeShop,
  PrivateKey,
  PublicShop,
  publicShopView,
  RotatedKey,
  RotateKey,
  SetShippingMethods,
  SetTaxRates,
  ShippingMethods,
  ShopNameParam,
  ShopRecord,
  shippingMethodsView,
  shopView,
  TaxRates,
  taxRatesView,
  WalletRecord,
  walletView,
} from './model.ts'

const noStore = { 'cache-control': 'no-store' }

export const shopRoutes = (deps: HttpDeps & ShopDeps & Pick<CatalogDeps, 'documents'>) =>
  routes(deps, 'Shops')
    .get('/shops/v2', async ({ shop }) => shopView(await readShop(deps, shop.id)), {
      access: 'staff',
      versioned: true,
      response: { 200: ShopRecord, ...errorResponses(401, 403, 404) },
      detail: { summary: "The caller's shop", description: 'Of several shops, the header `x-shop-id` selects one; default the first.' },
    })
    .patch(
      '/shops/v2',
      async ({ shop, body, actor, expected }) =>
        shopView(await changeShop(deps, { shop, actor, expected, also: (tx) => invalidateShopDocuments(tx, deps, shop.id) }, body)),
      {
        access: 'merchant',
        versioned: true,
        body: ChangeShop,
        response: { 200: ShopRecord, ...errorResponses(401, 403, 404, 409, 413, 415) },
        detail: {
          summary: 'Change the shop',
          description:
            'Fields that are left out stay as they are. Another `currency` is 409 once the shop has prices: products, shipping methods or gift cards.',
        },
      },
    )
    .get('/shops/v2/tax-rates', async ({ shop }) => taxRatesView(await readShop(deps, shop.id)), {
      access: 'management',
      versioned: true,
      response: { 200: TaxRates, ...errorResponses(401, 403, 404) },
      detail: { summary: 'Tax rates', description: 'By country and region, in the form in which they were put. None: no tax.' },
    })
    .put(
      '/shops/v2/tax-rates',
      async ({ shop, body, actor, expected }) => {
        const rates = body.data.map(({ country, region, rateBps, inclusive, class: taxClass }) => ({
          ...{ country, region: region ?? null, rateBps, inclusive: inclusive ?? false },
          ...(taxClass ? { class: taxClass } : {}),
        }))
        return taxRatesView(await setTaxRates(deps, { shop, actor, expected }, rates))
      },
      {
        access: 'management',
        largeJson: true,
        versioned: true,
        body: SetTaxRates,
        response: { 200: TaxRates, ...errorResponses(401, 403, 404, 413, 415) },
        detail: {
          summary: 'Replace the tax rates',
          description:
            'A region is a province or state of its country, by ISO 3166-2 code, English name or local name, and addresses match it by any of them; one that the country does not have is 400. Of the rates that fit a line the most specific counts: class and region, then class and country, then region, then country. So a variant whose `taxClass` has no rate of its own there takes the standard one. An address that no rate covers, or whose province is unknown, has a notice in the `notices` of its cart.',
        },
      },
    )
    .get('/shops/v2/shipping-methods', async ({ shop }) => shippingMethodsView(await readShop(deps, shop.id)), {
      access: 'management',
      versioned: true,
      response: { 200: ShippingMethods, ...errorResponses(401, 403, 404) },
      detail: { summary: 'Shipping methods', description: 'None: nothing is charged for shipping.' },
    })
    .put(
      '/shops/v2/shipping-methods',
      async ({ shop, body, actor, expected }) => shippingMethodsView(await setShippingMethods(deps, { shop, actor, expected }, body.data)),
      {
        access: 'management',
        largeJson: true,
        versioned: true,
        body: SetShippingMethods,
        response: { 200: ShippingMethods, ...errorResponses(401, 403, 404, 413, 415) },
        detail: {
          summary: 'Replace the shipping methods',
          description: `Each in one of two forms: \`countries\` with one \`price\`, or \`zones\` with \`rates\`; it is answered in the form in which it was put. A zone is some countries, or provinces of one, or with \`{}\` every country that no other method names; zones of one method must not overlap. Rates are bands by weight or by amount, bounds inclusive and rising: the first that fits counts, and beyond the last the method is not offered. Weight is that of the lines whose variants have \`requiresShipping\`; amounts are the subtotal after discounts, of all lines. From \`freeOver\` on it costs nothing; what is too heavy for the last band is not sent all the same. All amounts are in the shop's currency; any other is 400.

A cart that holds nothing with \`requiresShipping\` needs neither an address nor a method, and pays nothing for shipping, as on Shopify.`,
        },
      },
    )
    .get(
      '/shops/v2/private-key',
      async ({ shop, actor, set }) => {
        Object.assign(set.headers, noStore)
        return { privateKey: await readPrivateKey(deps, { shop, actor }) }
      },
      {
        access: 'owner',
        response: { 200: PrivateKey, ...errorResponses(401, 403, 404, 429) },
        detail: { summary: 'The secret API key', description: 'At most ten readings an hour, each on record.' },
      },
    )
    .post(
      '/shops/v2/private-key/rotate',
      ({ shop, body, actor, set, once }) => {
        Object.assign(set.headers, noStore)
        return once(200, (write) => rotatePrivateKey(deps, { shop, actor, write }, body.graceSeconds ?? 0), {
          shown: () => auditRepeatedKeyReading(deps, { shop, actor }),
        })
      },
      {
        access: 'owner',
        idempotent: true,
        body: RotateKey,
        response: { 200: RotatedKey, ...errorResponses(401, 403, 404, 409, 413, 415, 422, 429) },
        detail: {
          summary: 'Replace the secret API key',
          description:
            'The old key stays valid for `graceSeconds`; keys older than that one end at once. At most ten rotations an hour. A replay under an `Idempotency-Key` counts as a reading of the key, and is on record like one.',
        },
      },
    )
    .post('/shops/v2/custody/wallet', async ({ shop, actor }) => walletView(await ensureCustodyWallet(deps, { shop, actor })), {
      access: 'owner',
      response: { 200: WalletRecord, ...errorResponses(401, 403, 404) },
      detail: {
        summary: 'Create the custodial wallet',
        description: 'Called again, it answers the same wallet. Its key never leaves the server.',
      },
    })

export const publicShopRoutes = (deps: HttpDeps & ShopDeps) =>
  routes(deps, 'Shops').get(
    '/shops/v2/public/name/:shopName',
    async ({ params, request }) => {
      await assertOriginOf(deps, params.shopName, request)
      return deps.answers.respond(request, async () => {
        const shop = await findPublicShopByName(deps, params.shopName)
        return JSON.stringify(publicShopView(shop, await readPublicIdentity(deps, shop)))
      }) as never
    },
    {
      access: 'public',
      params: ShopNameParam,
      response: { 200: PublicShop, 304: notModified, ...errorResponses(403, 404) },
      detail: { summary: 'A shop by its name', description: 'One that is suspended is 404, here and on every public path.' },
    },
  )
