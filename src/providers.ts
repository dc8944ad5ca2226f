import type { Processor } from './clients/processors/processor.ts'
import type { Deps } from './core/deps.ts'
import { httpParts } from './http/providers.ts'
import type { Peers } from './http/client-connections.ts'
import { accountPageParts } from './modules/customers/account-page/providers.ts'
import { affiliateParts } from './modules/selling/affiliate/providers.ts'
import { attestationParts } from './modules/trust/attestation/providers.ts'
import { auditParts } from './modules/operations/audit/providers.ts'
import { authParts } from './modules/identity/auth/providers.ts'
import { backupParts } from './modules/operations/backup/providers.ts'
import { blogParts } from './modules/catalog/blog/providers.ts'
import { cartParts } from './modules/selling/cart/providers.ts'
import { catalogParts } from './modules/catalog/products/providers.ts'
import { consoleParts } from './modules/operations/console/providers.ts'
import { creditParts } from './modules/lending/credit/providers.ts'
import { customerParts } from './modules/customers/customer/providers.ts'
import { customerAccountParts } from './modules/customers/customer-account/providers.ts'
import { discountParts } from './modules/selling/discount/providers.ts'
import { draftParts } from './modules/selling/draft-order/providers.ts'
import { erasureParts } from './modules/customers/erasure/providers.ts'
import { giftCardParts } from './modules/selling/gift-card/providers.ts'
import { idempotencyParts } from './modules/operations/idempotency/providers.ts'
import { instanceKeyParts } from './modules/identity/instance-key/providers.ts'
import { jobParts } from './modules/operations/job/providers.ts'
import { kybParts } from './modules/shop/kyb/providers.ts'
import { lenderParts } from './modules/lending/lender/providers.ts'
import { lendingParts } from './modules/lending/application/providers.ts'
import { lendingDocumentParts } from './modules/lending/lending-document/providers.ts'
import { liveParts } from './modules/messaging/live-events/providers.ts'
import { logShippingParts } from './modules/operations/log-shipping/providers.ts'
import { mailParts } from './modules/messaging/mail/providers.ts'
import { mediaParts } from './modules/catalog/media/providers.ts'
import { memberParts } from './modules/identity/member/providers.ts'
import { merchantParts } from './modules/identity/merchant/providers.ts'
import { methodologyParts } from './modules/trust/methodology/providers.ts'
import { operationsParts } from './modules/operations/dashboard/providers.ts'
import { orderCacheParts, orderParts } from './modules/selling/order/providers.ts'
import { orderLinkParts } from './modules/selling/order-link/providers.ts'
import { passwordResetParts } from './modules/identity/password-reset/providers.ts'
import { paymentParts } from './modules/payments/payment/providers.ts'
import { paymentMethodParts } from './modules/payments/payment-method/providers.ts'
import { platformParts } from './modules/operations/deploy-status/providers.ts'
import { processorAccountParts } from './modules/payments/processor-account/providers.ts'
import { repaymentParts } from './modules/lending/repayment/providers.ts'
import { sandboxParts } from './modules/payments/sandbox/providers.ts'
import { secondFactorParts } from './modules/identity/second-factor/providers.ts'
import { serviceProviderParts } from './modules/trust/service-provider/providers.ts'
import { shopParts } from './modules/shop/shop/providers.ts'
import { staffParts } from './modules/identity/staff/providers.ts'
import { trustParts } from './modules/trust/fabric/providers.ts'
import { webhookParts } from './modules/messaging/webhook/providers.ts'

/** Adds a module's parts to what there is already, which they may use. */
const joined = <Before extends object>(deps: Before) => ({
  deps,
  add: <Parts extends object>(parts: (deps: Before) => Parts) => joined<Before & Parts>({ ...deps, ...parts(deps) }),
})

/** What is given from outside besides. */
export type Given = {
  /** Where requests come from, as the server tells it. */
  readonly peers: Peers
  /** Besides those that the instance has by itself. */
  readonly processors: readonly Processor[]
}

/** Puts the stores and caches of all modules together. A module's parts may use those above it. */
export const compose = (base: Deps, { peers, processors }: Given) =>
  joined(base)
    .add(platformParts)
    .add(auditParts)
    .add(liveParts)
    .add(jobParts)
    .add(logShippingParts)
    .add(instanceKeyParts)
    .add(orderLinkParts)
    .add(idempotencyParts)
    .add(memberParts)
    .add(shopParts)
    .add(mailParts)
    .add(authParts)
    .add(secondFactorParts)
    .add(merchantParts)
    .add(kybParts)
    .add(trustParts)
    .add(lenderParts)
    .add(methodologyParts)
    .add(serviceProviderParts)
    .add(repaymentParts)
    .add(attestationParts)
    .add(creditParts)
    .add(lendingParts)
    .add(lendingDocumentParts)
    .add(mediaParts)
    .add(backupParts)
    .add(processorAccountParts)
    .add(paymentMethodParts)
    .add(customerParts)
    .add(passwordResetParts)
    .add(catalogParts)
    .add(blogParts)
    .add(giftCardParts)
    .add(discountParts)
    .add(cartParts)
    .add(affiliateParts)
    .add(webhookParts)
    .add(sandboxParts)
    .add(orderCacheParts)
    .add((deps) => paymentParts(deps, processors))
    .add(orderParts)
    .add(draftParts)
    .add(accountPageParts)
    .add(staffParts)
    .add(customerAccountParts)
    .add(erasureParts)
    .add(operationsParts)
    .add(consoleParts)
    .add((deps) => httpParts(deps, peers)).deps

export type AppDeps = ReturnType<typeof compose>
