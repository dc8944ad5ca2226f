import type { Access } from '../../src/http/access-rules.ts'

/**
 * Who may call what. Written by hand: a route that is new, gone or opened wider than before shows up as a difference to
 * this list. The twins under API_V3_PREFIX have the access of their originals and are not repeated.
 */
export const accessManifest: Record<string, Access> = {
  'POST /merchant/login': 'login',
  'POST /merchant/signup': 'public',
  'GET /merchant/me': 'merchant',
  'POST /customer/signup': 'public',
  'POST /customer/login': 'login',
  'POST /auth/refresh': 'public',
  'POST /auth/logout': 'public',
  'POST /auth/password': 'loggedIn',
  'GET /auth/sessions': 'loggedIn',
  'DELETE /auth/sessions': 'loggedIn',
  'DELETE /auth/sessions/:id': 'loggedIn',

  'GET /shops/v2': 'merchant',
  'PATCH /shops/v2': 'merchant',
  'GET /shops/v2/public/name/:shopName': 'public',
  'GET /shops/v2/tax-rates': 'management',
  'PUT /shops/v2/tax-rates': 'management',
  'GET /shops/v2/shipping-methods': 'management',
  'PUT /shops/v2/shipping-methods': 'management',
  'GET /shops/v2/private-key': 'merchant',
  'POST /shops/v2/private-key/rotate': 'merchant',
  'POST /shops/v2/custody/wallet': 'merchant',

  'GET /product-v2/public/shop/:shopName': 'public',
  'GET /product-v2/public/:id': 'public',
  'POST /product-v2': 'management',
  'GET /product-v2': 'management',
  'GET /product-v2/:id': 'management',
  'PATCH /product-v2/:id': 'management',
  'DELETE /product-v2/:id': 'management',
  'POST /product-v2/import': 'management',
  'POST /product-v2/:id/variants/:variantId/stock': 'management',
  'DELETE /product-v2/:id/variants/:variantId': 'management',

  'GET /collection-v2/published/:shopName': 'public',
  'POST /collection-v2': 'management',
  'GET /collection-v2': 'management',
  'GET /collection-v2/:id': 'management',
  'PATCH /collection-v2/:id': 'management',
  'DELETE /collection-v2/:id': 'management',
  'PUT /collection-v2/:id/products': 'management',

  'GET /blogs': 'storefront',
  'GET /blogs/:id': 'storefront',
  'GET /blogs/public/:slug': 'public',
  'POST /blogs': 'management',
  'PATCH /blogs/:id': 'management',
  'DELETE /blogs/:id': 'management',

  'POST /affiliates': 'management',
  'POST /affiliates/clicks': 'storefront',
  'GET /affiliates': 'management',
  'GET /affiliates/:id': 'management',
  'PATCH /affiliates/:id': 'management',

  'GET /giftcard': 'management',
  'POST /giftcard': 'management',
  'PATCH /giftcard/:id': 'management',
  'PATCH /giftcard/apply': 'shopper',
  'PATCH /giftcard/remove': 'shopper',

  'POST /cart': 'cart',
  'GET /cart/:id': 'cart',
  'PATCH /cart/:id': 'cart',
  'POST /cart/:id/items': 'cart',
  'PATCH /cart/:id/items/:lineId': 'cart',
  'DELETE /cart/:id/checkout': 'cart',
  'DELETE /cart/:id/items/:lineId': 'cart',

  'POST /customer': 'secretKey',
  'GET /customer/:customerId': 'secretKey',
  'GET /customer/:customerId/order-ids': 'secretKey',
  'POST /customer/:customerId/addresses': 'secretKey',
  'POST /customer/:customerId/addresses/add': 'secretKey',
  'POST /addresses': 'secretKeyOrCustomer',
  'GET /addresses/:id': 'secretKeyOrCustomer',

  'POST /cart/:id/checkout': 'cart',
  'POST /cart/:id/complete': 'cart',

  'GET /v2/orders': 'management',
  'GET /v2/orders/:id': 'order',
  'POST /v2/orders/:id/refunds': 'management',
  'POST /v2/orders/:id/cancel': 'management',
  'POST /v2/orders/:id/fulfil': 'management',

  'POST /webhook-endpoints': 'management',
  'GET /webhook-endpoints': 'management',
  'GET /webhook-endpoints/:id': 'management',
  'DELETE /webhook-endpoints/:id': 'management',
  'GET /webhook-endpoints/:id/deliveries': 'management',

  'POST /webhooks/payments/:processor': 'processor',
  'POST /webhooks/payments/:processor/:shopId': 'processor',

  'GET /admin/audit': 'superAdmin',

  'GET /locations/countries': 'integration',

  'GET /': 'public',
  'GET /docs': 'public',
  'GET /docs/json': 'public',
  'GET /docs/page.js': 'public',
  'GET /docs/page.css': 'public',
  'GET /docs/favicon.svg': 'public',
  'GET /docs/swagger-ui-bundle.js': 'public',
  'GET /docs/swagger-ui-bundle.js.LICENSE.txt': 'public',
  'GET /docs/swagger-ui.css': 'public',
  'GET /health/live': 'public',
  'GET /health/ready': 'public',
  'GET /metrics': 'internal',
}
