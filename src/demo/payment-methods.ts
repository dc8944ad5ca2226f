/** Payment methods of the demo's shops. For each shop, the resolver chooses the processor by another rule. */
import { system } from '../core/command-context.ts'
import { dayMs } from '../lib/day.ts'
import { listPartnerships, paymentMethodsOf, setPartnerships, setPaymentMethods } from '../modules/payments/payment-method/index.ts'
import { decideKyb, fileKyb, findKybOf } from '../modules/shop/kyb/index.ts'
import type { Shop } from '../modules/shop/shop/index.ts'
import type { AppDeps } from '../providers.ts'
import { depsAt } from './past-clock.ts'
import type { ShopPlan } from './plan.ts'

/** Stores a shop's payment methods and its approved KYB application, unless they exist. */
export async function setUpPayments(deps: AppDeps, { shop: { ways = {} }, opensAt }: ShopPlan, shop: Shop): Promise<void> {
  const pastDeps = depsAt(deps, opensAt + dayMs)
  // Only an owner may change where manual payments go.
  const by = { shop, actor: { id: shop.merchantId } }
  const { methods, kyb } = ways
  if (methods && (await paymentMethodsOf(pastDeps, shop)).version === 1) await setPaymentMethods(pastDeps, by, methods)
  if (!kyb) return
  const record = (await findKybOf(pastDeps, shop.merchantId)) ?? (await fileKyb(pastDeps, by, kyb))
  if (record.status === 'PENDING')
    await decideKyb(depsAt(deps, opensAt + 3 * dayMs), { actor: system }, record.id, { decision: 'APPROVED', reason: null })
}

/** Creates the partnerships that choose a shop's card processor, unless any exist. */
export async function makePartnerships(deps: AppDeps, shops: readonly { plan: ShopPlan; shop: Shop }[]): Promise<void> {
  if ((await listPartnerships(deps)).data.length > 0) return
  const data = shops.flatMap(({ plan, shop: { id } }) =>
    plan.shop.ways?.partnership ? [{ ...plan.shop.ways.partnership, shopIds: [id] }] : [],
  )
  const at = Math.max(...shops.map(({ plan }) => plan.opensAt)) + dayMs
  await setPartnerships(depsAt(deps, at), { actor: system }, data)
}
