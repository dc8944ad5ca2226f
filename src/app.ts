import { type AnyElysia, Elysia } from 'elysia'
import { unreadBodies } from './http/body.ts'
import type { HttpDeps } from './http/deps.ts'
import { docsRoutes } from './http/docs.ts'
import { errors } from './http/errors.ts'
import { browserMethods, noSuchRoute } from './http/route-table.ts'
import { agentMcpRoutes, agentRestRoutes } from './modules/agents/agent-api/routes.ts'
import { agentDiscoveryRoutes } from './modules/agents/agent-settings/discovery-routes.ts'
import { agentSettingsRoutes } from './modules/agents/agent-settings/routes.ts'
import { handOffRoutes } from './modules/agents/hand-off/routes.ts'
import { blogRoutes, publicBlogRoutes } from './modules/catalog/blog/routes.ts'
import { collectionRoutes, publicCollectionRoutes } from './modules/catalog/collections/collections-routes.ts'
import { mediaRoutes, publicMediaRoutes } from './modules/catalog/media/routes.ts'
import { catalogRoutes, publicCatalogRoutes } from './modules/catalog/products/routes.ts'
import { accountPageRoutes } from './modules/customers/account-page/routes.ts'
import { customerImportRoutes } from './modules/customers/customer/import-routes.ts'
import { customerLoginRoutes, customerRoutes } from './modules/customers/customer/routes.ts'
import { customerAccountRoutes } from './modules/customers/customer-account/routes.ts'
import { customerExportRoutes } from './modules/customers/customer-export/routes.ts'
import { erasureRoutes } from './modules/customers/erasure/routes.ts'
import { accountRoutes } from './modules/identity/account/routes.ts'
import { totpRoutes } from './modules/identity/account/totp-routes.ts'
import { authRoutes } from './modules/identity/auth/routes.ts'
import { consoleSessionRoutes } from './modules/identity/console-session/routes.ts'
import { loginRoutes, merchantRoutes } from './modules/identity/merchant/routes.ts'
import { passwordResetRoutes } from './modules/identity/password-reset/routes.ts'
import { staffRoutes } from './modules/identity/staff/routes.ts'
import { lendingAdminRoutes } from './modules/lending/application/admin-routes.ts'
import { lendingRoutes } from './modules/lending/application/routes.ts'
import { creditAdminRoutes, upgradePreviewRoutes } from './modules/lending/credit/routes.ts'
import { lenderRoutes } from './modules/lending/lender/routes.ts'
import { lendingDocumentAdminRoutes, lendingDocumentRoutes } from './modules/lending/lending-document/routes.ts'
import { repaymentRoutes } from './modules/lending/repayment/routes.ts'
import { liveRoutes } from './modules/messaging/live-events/routes.ts'
import { mailRoutes } from './modules/messaging/mail/routes.ts'
import { webhookRoutes } from './modules/messaging/webhook/routes.ts'
import { auditRoutes } from './modules/operations/audit/routes.ts'
import { consoleRoutes } from './modules/operations/console/routes.ts'
import { healthRoutes } from './modules/operations/dashboard/routes.ts'
import { platformRoutes } from './modules/operations/deploy-status/routes.ts'
import { jobRoutes } from './modules/operations/job/routes.ts'
import { kpiRoutes } from './modules/operations/kpi/routes.ts'
import { backupRoutes } from './modules/operations/log-shipping/routes.ts'
import { overviewRoutes } from './modules/operations/overview/routes.ts'
import { paymentMethodAdminRoutes } from './modules/payments/payment-method/admin-routes.ts'
import { paymentMethodRoutes, resolverRoutes } from './modules/payments/payment-method/routes.ts'
import { processorAccountRoutes } from './modules/payments/processor-account/routes.ts'
import { abandonedCartRoutes, unsubscribePageRoutes } from './modules/selling/abandoned-cart/routes.ts'
import { affiliateRoutes } from './modules/selling/affiliate/routes.ts'
import { cartDiscountRoutes, cartGiftCardRoutes, cartRoutes } from './modules/selling/cart/routes.ts'
import { checkoutRoutes, paymentWebhookRoutes } from './modules/selling/checkout/routes.ts'
import { discountRoutes } from './modules/selling/discount/routes.ts'
import { payPageRoutes } from './modules/selling/draft-order/page-routes.ts'
import { draftOrderRoutes } from './modules/selling/draft-order/routes.ts'
import { giftCardRoutes } from './modules/selling/gift-card/routes.ts'
import { bulkOrderRoutes } from './modules/selling/order/bulk-routes.ts'
import { orderRoutes } from './modules/selling/order/routes.ts'
import { orderDocumentRoutes } from './modules/selling/order-page/document-routes.ts'
import { linkReturnRoutes } from './modules/selling/order-page/return-routes.ts'
import { orderPageRoutes } from './modules/selling/order-page/routes.ts'
import { returnRoutes } from './modules/selling/order-return/routes.ts'
import { countryRoutes } from './modules/shop/countries/routes.ts'
import { goLiveRoutes } from './modules/shop/go-live/routes.ts'
import { kybAdminRoutes, kybRoutes } from './modules/shop/kyb/routes.ts'
import { servedCountryRoutes } from './modules/shop/shipping/routes.ts'
import { hostRoutes } from './modules/shop/shop/hosts-routes.ts'
import { publicShopRoutes, shopRoutes } from './modules/shop/shop/routes.ts'
import { shopAdminRoutes } from './modules/shop/shop-admin/routes.ts'
import { chainRoutes } from './modules/trust/attestation/routes.ts'
import { platformWalletRoutes, trustRoutes } from './modules/trust/fabric/routes.ts'
import { methodologyRoutes, publicMethodologyRoutes } from './modules/trust/methodology/routes.ts'
import { ingestionRoutes, recommendationRoutes, serviceProviderRoutes } from './modules/trust/service-provider/routes.ts'
import type { AppDeps } from './providers.ts'

/** Creates the Elysia app with all routes, in order. */
export function createApp(deps: AppDeps) {
  const inBothPlaces = routesUnderBothPrefixes(deps)
  const app = new Elysia({ systemRouter: false, strictPath: true, handler: { standardHostname: false } })
    .use(errors(deps))
    .use(unreadBodies())
    .use(inBothPlaces)
    .group(deps.config.apiV3Prefix as '/api/v3', (group) => group.use(inBothPlaces))
    .use(routesUnderOnePrefix(deps))
  app.use(docsRoutes(deps, () => app.routes))
  deps.routeTable.fill(app.routes)
  return withPreflight(app, deps)
}

/** Routes that also respond under API_V3_PREFIX: login, public reads, lending and the trust fabric. */
const routesUnderBothPrefixes = (deps: AppDeps): AnyElysia[] => [
  loginRoutes(deps),
  customerLoginRoutes(deps),
  publicShopRoutes(deps),
  servedCountryRoutes(deps),
  publicCatalogRoutes(deps),
  publicCollectionRoutes(deps),
  publicBlogRoutes(deps),
  publicMediaRoutes(deps),
  orderPageRoutes(deps),
  resolverRoutes(deps),
  lendingRoutes(deps),
  lendingAdminRoutes(deps),
  creditAdminRoutes(deps),
  upgradePreviewRoutes(deps),
  lenderRoutes(deps),
  methodologyRoutes(deps),
  publicMethodologyRoutes(deps),
  platformWalletRoutes(deps),
  serviceProviderRoutes(deps),
  recommendationRoutes(deps),
  ingestionRoutes(deps),
  trustRoutes(deps),
  repaymentRoutes(deps),
  lendingDocumentRoutes(deps),
  lendingDocumentAdminRoutes(deps),
]

/** All other routes. A list, because the type of one long chain exceeds the compiler's limit. */
const routesUnderOnePrefix = (deps: AppDeps): AnyElysia[] => [
  authRoutes(deps),
  consoleSessionRoutes(deps),
  accountRoutes(deps),
  passwordResetRoutes(deps),
  accountPageRoutes(deps),
  totpRoutes(deps),
  merchantRoutes(deps),
  shopRoutes(deps),
  hostRoutes(deps),
  agentSettingsRoutes(deps),
  agentDiscoveryRoutes(deps),
  overviewRoutes(deps),
  staffRoutes(deps),
  mailRoutes(deps),
  paymentMethodRoutes(deps),
  processorAccountRoutes(deps),
  kybRoutes(deps),
  goLiveRoutes(deps),
  catalogRoutes(deps),
  collectionRoutes(deps),
  blogRoutes(deps),
  mediaRoutes(deps),
  customerRoutes(deps),
  customerExportRoutes(deps),
  customerImportRoutes(deps),
  erasureRoutes(deps),
  customerAccountRoutes(deps),
  giftCardRoutes(deps),
  discountRoutes(deps),
  cartGiftCardRoutes(deps),
  cartRoutes(deps),
  abandonedCartRoutes(deps),
  handOffRoutes(deps),
  unsubscribePageRoutes(deps),
  cartDiscountRoutes(deps),
  checkoutRoutes(deps),
  draftOrderRoutes(deps),
  payPageRoutes(deps),
  orderRoutes(deps),
  bulkOrderRoutes(deps),
  returnRoutes(deps),
  linkReturnRoutes(deps),
  orderDocumentRoutes(deps),
  liveRoutes(deps),
  paymentWebhookRoutes(deps),
  agentRestRoutes(deps),
  agentMcpRoutes(deps),
  affiliateRoutes(deps),
  webhookRoutes(deps),
  countryRoutes(deps),
  auditRoutes(deps),
  kpiRoutes(deps),
  kybAdminRoutes(deps),
  shopAdminRoutes(deps),
  paymentMethodAdminRoutes(deps),
  jobRoutes(deps),
  chainRoutes(deps),
  backupRoutes(deps),
  platformRoutes(deps),
  healthRoutes(deps),
  consoleRoutes(deps),
]

const preflightHeaders = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers':
    'content-type, authorization, x-service-api-key, x-shop-id, idempotency-key, if-match, if-none-match, x-request-id, traceparent, tracestate, sentry-trace, baggage',
  'access-control-max-age': '86400',
  'cache-control': 'no-store',
}

/**
 * Answers CORS preflights of paths that pages of any origin may call. One route for all, because a route for each path
 * slows the start.
 */
const withPreflight = <App extends AnyElysia>(app: App, { routeTable }: HttpDeps): App =>
  app.options(
    '/*',
    ({ request }) => {
      const methods = browserMethods(routeTable, request)
      if (methods.length === 0) throw noSuchRoute(routeTable, request)
      return new Response(null, { status: 204, headers: { ...preflightHeaders, 'access-control-allow-methods': methods.join(', ') } })
    },
    { detail: { hide: true } },
  ) as never
