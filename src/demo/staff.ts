/**
 * People who work in the main shop, one of each role besides its owner, and somebody who was invited and has not come
 * yet.
 */
import type { StaffRole } from '../core/roles.ts'
import { dayMs } from '../lib/day.ts'
import { findUserByEmail, joinAcceptedShopsOf } from '../modules/identity/merchant/index.ts'
import { acceptInvitation, inviteStaff } from '../modules/identity/staff/index.ts'
import type { Shop } from '../modules/shop/shop/index.ts'
import type { AppDeps } from '../providers.ts'
import { inThePast } from './past-clock.ts'

type Colleague = { readonly email: string; readonly name: string; readonly role: Exclude<StaffRole, 'OWNER'> }
const colleagues: readonly Colleague[] = [
  { email: 'manager@demo.example', name: 'Mina Okafor', role: 'MANAGER' },
  { email: 'warehouse@demo.example', name: 'Bat Erdene', role: 'FULFILMENT' },
  { email: 'reader@demo.example', name: 'Lena Fischer', role: 'READ_ONLY' },
]
/** Who logs in, besides the owner, and their one password. */
export const demoStaff = { people: colleagues, password: 'demo-staff', invited: 'newcomer@demo.example' }

/** @param opensAt of the shop */
export async function hireStaff(deps: AppDeps, shop: Shop, opensAt: number): Promise<void> {
  const by = { actor: { id: shop.merchantId }, shop }
  for (const [nth, { email, name, role }] of colleagues.entries()) {
    if (await findUserByEmail(deps, email)) continue
    const past = inThePast(deps, opensAt + (nth + 1) * 7 * dayMs)
    // Of a fill that broke off in between it is invited again.
    const { inviteUrl = '' } = await inviteStaff(past, by, { email, role })
    const token = inviteUrl.slice(inviteUrl.lastIndexOf('/') + 1)
    await acceptInvitation(past, { token, name, password: demoStaff.password }, { limitKey: 'demo', agent: undefined })
    const user = await findUserByEmail(deps, email)
    // As their first login does.
    if (user) await past.db.write((tx) => joinAcceptedShopsOf(tx, past, user, { id: user.id }))
  }
}

/** Somebody whose invitation is still good, whenever the demo is filled. */
export async function inviteNewcomer(deps: AppDeps, shop: Shop): Promise<void> {
  await inviteStaff(deps, { actor: { id: shop.merchantId }, shop }, { email: demoStaff.invited, role: 'READ_ONLY' })
}
