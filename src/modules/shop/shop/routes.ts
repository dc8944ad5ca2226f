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
  openAnotherShop,
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
  newShopOf,
  OpenShop,
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
      detail: {
        operationId: 'getOwnShop',
        summary: "Returns the caller's shop",
        description: 'If the caller has several shops, the header `x-shop-id` selects one. Default: the first.',
      },
    })
    .post(
      '/shops/v2',
      ({ body, actor, principal, once }) => {
        const isSuperAdmin = principal.kind === 'superAdmin'
        return once(201, (write) => openAnotherShop(deps, { actor, write, isSuperAdmin }, newShopOf(body), shopView))
      },
      {
        access: 'shopOpener',
        idempotent: true,
        body: OpenShop,
        response: { 201: ShopRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'createShop',
          summary: 'Creates a shop',
          description:
            'The caller becomes its OWNER. Select it with `x-shop-id`. The shop starts in mode TEST. The response is 409 if the `shopName` is taken, the account works in 100 shops, or a merchant owns a suspended shop.',
        },
      },
    )
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
          operationId: 'updateOwnShop',
          summary: "Updates the caller's shop",
          description:
            'Fields that you leave out keep their values. Changing `currency` is 409 if the shop has prices: products, shipping methods or gift cards.',
        },
      },
    )
    .get('/shops/v2/tax-rates', async ({ shop }) => taxRatesView(await readShop(deps, shop.id)), {
      access: 'management',
      versioned: true,
      response: { 200: TaxRates, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'listTaxRates',
        summary: 'Lists tax rates',
        description: 'Returns tax rates by country and region, as they were sent. Empty: no tax.',
      },
    })
    .put(
      '/shops/v2/tax-rates',
      async ({ shop, body, actor, expected }) => {
        const rates = body.data.map(({ country, region, rateBps, inclusive, shipping, class: taxClass }) => ({
          ...{ country, region: region ?? null, rateBps, inclusive: inclusive ?? false, shipping: shipping ?? false },
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
          operationId: 'replaceTaxRates',
          summary: 'Replaces the tax rates',
          description:
            "A region is a province or state, named by ISO 3166-2 code, English name or local name; addresses match by any of them. An unknown region is 400. The most specific rate for a line applies: class and region, class and country, region, then country. So if a variant's `taxClass` has no rate there, the standard rate applies. With `shipping`, a rate also applies to the cart's shipping after discounts, as `shippingTax`; if several do, the one without `class`. If no rate covers the address, or its province is unknown, the cart has a notice in `notices`.",
        },
      },
    )
    .get('/shops/v2/shipping-methods', async ({ shop }) => shippingMethodsView(await readShop(deps, shop.id)), {
      access: 'management',
      versioned: true,
      response: { 200: ShippingMethods, ...errorResponses(401, 403, 404) },
      detail: { operationId: 'listShippingMethods', summary: 'Lists shipping methods', description: 'Empty: shipping is free.' },
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
          operationId: 'replaceShippingMethods',
          summary: 'Replaces the shipping methods',
          description: `A method has either \`countries\` with one \`price\`, or \`zones\` with \`rates\`, and is returned as it was sent. A zone is a list of countries, a list of provinces of one country, or, as \`{}\`, every country that no other method covers. Zones of a method must not overlap. Rates are ascending ranges by weight or by amount with inclusive limits: the first match applies, and above the last the method is not offered. Weight counts lines whose variants have \`requiresShipping\`; amounts are the subtotal of all lines after discounts. From \`freeOver\`, shipping is free, but the weight limit still applies. All amounts must be in the shop's currency (400).

A cart without variants that have \`requiresShipping\` needs no address and no method, and pays no shipping, as on Shopify.`,
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
        detail: {
          operationId: 'getSecretKey',
          summary: 'Returns the secret key',
          description: 'At most ten reads an hour. Each is recorded in the audit trail.',
        },
      },
    )
    .post(
      '/shops/v2/private-key/rotate',
      ({ shop, body, actor, set, once }) => {
        Object.assign(set.headers, noStore)
        return once(200, (write) => rotatePrivateKey(deps, { shop, actor, write }, body.graceSeconds ?? 0), {
          beforeReplay: () => auditRepeatedKeyReading(deps, { shop, actor }),
        })
      },
      {
        access: 'owner',
        idempotent: true,
        body: RotateKey,
        response: { 200: RotatedKey, ...errorResponses(401, 403, 404, 409, 413, 415, 422, 429) },
        detail: {
          operationId: 'rotateSecretKey',
          summary: 'Rotates the secret key',
          description:
            'The previous key stays valid for `graceSeconds`; older keys stop working at once. At most ten rotations an hour. A replay with an `Idempotency-Key` counts as a read of the key, and is recorded like one.',
        },
      },
    )
    .post('/shops/v2/custody/wallet', async ({ shop, actor }) => walletView(await ensureCustodyWallet(deps, { shop, actor })), {
      access: 'owner',
      response: { 200: WalletRecord, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'createWallet',
        summary: 'Creates the custodial wallet',
        description: 'A repeated call returns the same wallet. Its private key never leaves the server.',
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
      detail: {
        operationId: 'getPublicShop',
        summary: 'Returns a shop by its name',
        description: 'A suspended shop is 404, here and on every public path.',
      },
    },
  )
