import type { Processor } from './clients/processors/processor.ts'
import type { Deps } from './core/deps.ts'
import { httpParts } from './http/parts.ts'
import type { Peers } from './http/peers.ts'
import { accountPageParts } from './modules/account-page/parts.ts'
import { affiliateParts } from './modules/affiliate/parts.ts'
import { attestationParts } from './modules/attestation/parts.ts'
import { auditParts } from './modules/audit/parts.ts'
import { authParts } from './modules/auth/parts.ts'
import { backupParts } from './modules/backup/parts.ts'
import { blogParts } from './modules/blog/parts.ts'
import { cartParts } from './modules/cart/parts.ts'
import { catalogParts } from './modules/catalog/parts.ts'
import { consoleParts } from './modules/console/parts.ts'
import { creditParts } from './modules/credit/parts.ts'
import { customerParts } from './modules/customer/parts.ts'
import { customerAccountParts } from './modules/customer-account/parts.ts'
import { discountParts } from './modules/discount/parts.ts'
import { draftParts } from './modules/draft-order/parts.ts'
import { erasureParts } from './modules/erasure/parts.ts'
import { giftCardParts } from './modules/gift-card/parts.ts'
import { idempotencyParts } from './modules/idempotency/parts.ts'
import { instanceKeyParts } from './modules/instance-key/parts.ts'
import { jobParts } from './modules/job/parts.ts'
import { kybParts } from './modules/kyb/parts.ts'
import { lenderParts } from './modules/lender/parts.ts'
import { lendingParts } from './modules/lending/parts.ts'
import { lendingDocumentParts } from './modules/lending-document/parts.ts'
import { liveParts } from './modules/live/parts.ts'
import { logShippingParts } from './modules/log-shipping/parts.ts'
import { mailParts } from './modules/mail/parts.ts'
import { mediaParts } from './modules/media/parts.ts'
import { memberParts } from './modules/member/parts.ts'
import { merchantParts } from './modules/merchant/parts.ts'
import { methodologyParts } from './modules/methodology/parts.ts'
import { operationsParts } from './modules/operations/parts.ts'
import { orderCacheParts, orderParts } from './modules/order/parts.ts'
import { orderLinkParts } from './modules/order-link/parts.ts'
import { passwordResetParts } from './modules/password-reset/parts.ts'
import { paymentParts } from './modules/payment/parts.ts'
import { paymentMethodParts } from './modules/payment-method/parts.ts'
import { platformParts } from './modules/platform/parts.ts'
import { processorAccountParts } from './modules/processor-account/parts.ts'
import { repaymentParts } from './modules/repayment/parts.ts'
import { sandboxParts } from './modules/sandbox/parts.ts'
import { secondFactorParts } from './modules/second-factor/parts.ts'
import { serviceProviderParts } from './modules/service-provider/parts.ts'
import { shopParts } from './modules/shop/parts.ts'
import { staffParts } from './modules/staff/parts.ts'
import { trustParts } from './modules/trust/parts.ts'
import { webhookParts } from './modules/webhook/parts.ts'

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
