/** Merchants who joined in the last weeks of the demo year, for the dashboards of sign-ups and verified shops. */
import { system } from '../core/command-context.ts'
import { dayMs } from '../lib/day.ts'
import { createProduct, findProductByHandle } from '../modules/catalog/products/index.ts'
import { findCustomerByEmail, signUpCustomer } from '../modules/customers/customer/index.ts'
import { createMerchant, findUserByEmail } from '../modules/identity/merchant/index.ts'
import type { KybInput } from '../modules/shop/kyb/domain.ts'
import { decideKyb, fileKyb, findKybOf } from '../modules/shop/kyb/index.ts'
import { findShopByName } from '../modules/shop/shop/index.ts'
import type { AppDeps } from '../providers.ts'
import { depsAt } from './past-clock.ts'

type Newcomer = {
  readonly day: number
  readonly name: string
  readonly country: string
  readonly currency: string
  readonly cohort?: KybInput['cohort']
  /** The KYB decision is pending. */
  readonly waits?: true
}

/** `day` is the day of the demo year on which the merchant joins. */
const newcomers: readonly Newcomer[] = [
  { day: 308, name: 'willow-paper', country: 'GB', currency: 'GBP', cohort: 'UK_LTD' },
  { day: 339, name: 'sampan-tea', country: 'SG', currency: 'SGD', cohort: 'SG_PTE' },
  { day: 351, name: 'alder-wool', country: 'DE', currency: 'EUR', cohort: 'EU_COMPANY' },
  { day: 361, name: 'cedar-candles', country: 'US', currency: 'USD', cohort: 'US_COMPANY', waits: true },
]
const customersEach = 2

/** Creates the merchants that are missing, with a product, customers and a KYB application. */
export async function fillNewcomers(deps: AppDeps, start: number, until: number): Promise<void> {
  for (const newcomer of newcomers) if (start + newcomer.day * dayMs <= until) await join(deps, start + newcomer.day * dayMs, newcomer)
}

async function join(deps: AppDeps, at: number, { name, country, currency, cohort, waits }: Newcomer): Promise<void> {
  const pastDeps = depsAt(deps, at)
  const merchant = { email: `${name}@demo.example`, password: 'demo-merchant' }
  if (!(await findUserByEmail(deps, merchant.email))) await createMerchant(pastDeps, merchant, { name, country, currency }, system)
  const shop = await findShopByName(deps, name)
  const by = { shop, actor: { id: shop.merchantId } }
  if (!(await findProductByHandle(deps, shop, 'first')))
    await createProduct(pastDeps, by, { title: 'The first of many', handle: 'first', status: 'DRAFT' })
  for (let nth = 1; nth <= customersEach; nth++) {
    const email = `friend${nth}@${name}.example`
    const person = { shopId: shop.id, email, name: `A friend of ${name}`, password: 'a friend of the demo' }
    if (!(await findCustomerByEmail(deps, shop, email)))
      await signUpCustomer(pastDeps, person, { limitKey: `demo ${name}`, requestId: undefined })
  }
  if (!cohort) return
  const business = { cohort, legalName: name, registrationNumber: `${country}-DEMO-9`, country, owners: [{ name: 'A friend', share: 100 }] }
  const record = (await findKybOf(pastDeps, shop.merchantId)) ?? (await fileKyb(pastDeps, by, business))
  if (record.status === 'PENDING' && !waits)
    await decideKyb(depsAt(deps, at + dayMs), { actor: system }, record.id, { decision: 'APPROVED', reason: null })
}
