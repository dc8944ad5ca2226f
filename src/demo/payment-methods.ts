/** How the shops of the demo are paid: each answers the resolver by another step. */
import { system } from '../core/command-context.ts'
import { dayMs } from '../lib/day.ts'
import { listPartnerships, paymentMethodsOf, setPartnerships, setPaymentMethods } from '../modules/payments/payment-method/index.ts'
import { decideKyb, fileKyb, findKybOf } from '../modules/shop/kyb/index.ts'
import type { Shop } from '../modules/shop/shop/index.ts'
import type { AppDeps } from '../providers.ts'
import { inThePast } from './past-clock.ts'
import type { ShopPlan } from './plan.ts'

/**
 * What a merchant says of the ways to pay, and what an operator knows of their business. Each only where it was not
 * done before.
 */
export async function setUpPayments(deps: AppDeps, { shop: { ways = {} }, opensAt }: ShopPlan, shop: Shop): Promise<void> {
  const past = inThePast(deps, opensAt + dayMs)
  const by = { shop, actor: system }
  const { methods, kyb } = ways
  if (methods && (await paymentMethodsOf(past, shop)).version === 1) await setPaymentMethods(past, by, methods)
  if (!kyb) return
  const record = (await findKybOf(past, shop.merchantId)) ?? (await fileKyb(past, { shop, actor: { id: shop.merchantId } }, kyb))
  if (record.status === 'PENDING')
    await decideKyb(inThePast(deps, opensAt + 3 * dayMs), { actor: system }, record.id, { decision: 'APPROVED', reason: null })
}

/** Whose card processor an operator chose by a partnership. */
export async function makePartnerships(deps: AppDeps, shops: readonly { plan: ShopPlan; shop: Shop }[]): Promise<void> {
  if ((await listPartnerships(deps)).data.length > 0) return
  const data = shops.flatMap(({ plan, shop: { id } }) =>
    plan.shop.ways?.partnership ? [{ ...plan.shop.ways.partnership, shopIds: [id] }] : [],
  )
  const at = Math.max(...shops.map(({ plan }) => plan.opensAt)) + dayMs
  await setPartnerships(inThePast(deps, at), { actor: system }, data)
}
