import type { Processor } from './clients/processors/processor.ts'
import type { Deps } from './core/deps.ts'
import type { ClientConnections } from './http/client-connections.ts'
import { httpProviders } from './http/providers.ts'
import { agentApiProviders } from './modules/agents/agent-api/providers.ts'
import { agentCatalogProviders } from './modules/agents/agent-catalog/providers.ts'
import { agentSessionProviders } from './modules/agents/agent-session/providers.ts'
import { agentSettingsProviders } from './modules/agents/agent-settings/providers.ts'
import { orderMessageProviders } from './modules/agents/order-message/providers.ts'
import { agentPlatformProviders } from './modules/agents/platform/providers.ts'
import { blogProviders } from './modules/catalog/blog/providers.ts'
import { mediaProviders } from './modules/catalog/media/providers.ts'
import { catalogProviders } from './modules/catalog/products/providers.ts'
import { accountPageProviders } from './modules/customers/account-page/providers.ts'
import { customerProviders } from './modules/customers/customer/providers.ts'
import { customerAccountProviders } from './modules/customers/customer-account/providers.ts'
import { erasureProviders } from './modules/customers/erasure/providers.ts'
import { authProviders } from './modules/identity/auth/providers.ts'
import { instanceKeyProviders } from './modules/identity/instance-key/providers.ts'
import { memberProviders } from './modules/identity/member/providers.ts'
import { merchantProviders } from './modules/identity/merchant/providers.ts'
import { passwordResetProviders } from './modules/identity/password-reset/providers.ts'
import { secondFactorProviders } from './modules/identity/second-factor/providers.ts'
import { staffProviders } from './modules/identity/staff/providers.ts'
import { lendingProviders } from './modules/lending/application/providers.ts'
import { creditProviders } from './modules/lending/credit/providers.ts'
import { lenderProviders } from './modules/lending/lender/providers.ts'
import { lendingDocumentProviders } from './modules/lending/lending-document/providers.ts'
import { repaymentProviders } from './modules/lending/repayment/providers.ts'
import { liveProviders } from './modules/messaging/live-events/providers.ts'
import { mailProviders } from './modules/messaging/mail/providers.ts'
import { webhookProviders } from './modules/messaging/webhook/providers.ts'
import { auditProviders } from './modules/operations/audit/providers.ts'
import { backupProviders } from './modules/operations/backup/providers.ts'
import { consoleProviders } from './modules/operations/console/providers.ts'
import { operationsProviders } from './modules/operations/dashboard/providers.ts'
import { platformProviders } from './modules/operations/deploy-status/providers.ts'
import { idempotencyProviders } from './modules/operations/idempotency/providers.ts'
import { jobProviders } from './modules/operations/job/providers.ts'
import { logShippingProviders } from './modules/operations/log-shipping/providers.ts'
import { paymentProviders } from './modules/payments/payment/providers.ts'
import { paymentMethodProviders } from './modules/payments/payment-method/providers.ts'
import { processorAccountProviders } from './modules/payments/processor-account/providers.ts'
import { sandboxProviders } from './modules/payments/sandbox/providers.ts'
import { abandonedCartProviders } from './modules/selling/abandoned-cart/providers.ts'
import { affiliateProviders } from './modules/selling/affiliate/providers.ts'
import { cartProviders } from './modules/selling/cart/providers.ts'
import { discountProviders } from './modules/selling/discount/providers.ts'
import { draftProviders } from './modules/selling/draft-order/providers.ts'
import { giftCardProviders } from './modules/selling/gift-card/providers.ts'
import { orderCacheProviders, orderProviders } from './modules/selling/order/providers.ts'
import { orderLinkProviders } from './modules/selling/order-link/providers.ts'
import { returnProviders } from './modules/selling/order-return/providers.ts'
import { kybProviders } from './modules/shop/kyb/providers.ts'
import { shopProviders } from './modules/shop/shop/providers.ts'
import { attestationProviders } from './modules/trust/attestation/providers.ts'
import { trustProviders } from './modules/trust/fabric/providers.ts'
import { methodologyProviders } from './modules/trust/methodology/providers.ts'
import { serviceProviderProviders } from './modules/trust/service-provider/providers.ts'

/** Adds providers that may use the earlier ones. */
const createBuilder = <Before extends object>(deps: Before) => ({
  deps,
  add: <Parts extends object>(parts: (deps: Before) => Parts) => createBuilder<Before & Parts>({ ...deps, ...parts(deps) }),
})

/** External inputs. */
type ComposeOptions = {
  /** Connections of requests, as the server reports them. */
  readonly peers: ClientConnections
  /** Processors in addition to those of the instance. */
  readonly processors: readonly Processor[]
}

/** Combines the providers of all modules. A module may use those above it. */
export const compose = (base: Deps, { peers, processors }: ComposeOptions) =>
  createBuilder(base)
    .add(platformProviders)
    .add(auditProviders)
    .add(liveProviders)
    .add(jobProviders)
    .add(logShippingProviders)
    .add(instanceKeyProviders)
    .add(orderLinkProviders)
    .add(idempotencyProviders)
    .add(memberProviders)
    .add(shopProviders)
    .add(mailProviders)
    .add(authProviders)
    .add(secondFactorProviders)
    .add(merchantProviders)
    .add(kybProviders)
    .add(trustProviders)
    .add(lenderProviders)
    .add(methodologyProviders)
    .add(serviceProviderProviders)
    .add(repaymentProviders)
    .add(attestationProviders)
    .add(creditProviders)
    .add(lendingProviders)
    .add(lendingDocumentProviders)
    .add(mediaProviders)
    .add(backupProviders)
    .add(processorAccountProviders)
    .add(paymentMethodProviders)
    .add(customerProviders)
    .add(passwordResetProviders)
    .add(catalogProviders)
    .add(blogProviders)
    .add(giftCardProviders)
    .add(discountProviders)
    .add(cartProviders)
    .add(abandonedCartProviders)
    .add(affiliateProviders)
    .add(webhookProviders)
    .add(sandboxProviders)
    .add(orderCacheProviders)
    .add((deps) => paymentProviders(deps, processors))
    .add(orderProviders)
    .add(returnProviders)
    .add(agentSettingsProviders)
    .add(agentPlatformProviders)
    .add(draftProviders)
    .add(agentSessionProviders)
    .add(orderMessageProviders)
    .add(accountPageProviders)
    .add(staffProviders)
    .add(customerAccountProviders)
    .add(erasureProviders)
    .add(agentCatalogProviders)
    .add(agentApiProviders)
    .add(operationsProviders)
    .add(consoleProviders)
    .add((deps) => httpProviders(deps, peers)).deps

export type AppDeps = ReturnType<typeof compose>
