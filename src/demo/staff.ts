/** Staff of the main shop: one person for each role, and one pending invitation. */
import type { StaffRole } from '../core/roles.ts'
import { dayMs } from '../lib/day.ts'
import { findUserByEmail, joinAcceptedShopsOf } from '../modules/identity/merchant/index.ts'
import { acceptInvitation, inviteStaff } from '../modules/identity/staff/index.ts'
import type { Shop } from '../modules/shop/shop/index.ts'
import type { AppDeps } from '../providers.ts'
import { depsAt } from './past-clock.ts'

type Colleague = { readonly email: string; readonly name: string; readonly role: Exclude<StaffRole, 'OWNER'> }
const colleagues: readonly Colleague[] = [
  { email: 'manager@demo.example', name: 'Mina Okafor', role: 'MANAGER' },
  { email: 'warehouse@demo.example', name: 'Bat Erdene', role: 'FULFILMENT' },
  { email: 'reader@demo.example', name: 'Lena Fischer', role: 'READ_ONLY' },
]
/** Logins of the staff other than the owner. All share one password. */
export const demoStaff = { people: colleagues, password: 'demo-staff', invited: 'newcomer@demo.example' }

/**
 * Adds the staff that is missing.
 * @param opensAt opening time of the shop, in milliseconds
 */
export async function hireStaff(deps: AppDeps, shop: Shop, opensAt: number): Promise<void> {
  const by = { actor: { id: shop.merchantId }, shop }
  for (const [nth, { email, name, role }] of colleagues.entries()) {
    if (await findUserByEmail(deps, email)) continue
    const pastDeps = depsAt(deps, opensAt + (nth + 1) * 7 * dayMs)
    // If an interrupted fill had sent the invitation, it is sent again.
    const { inviteUrl = '' } = await inviteStaff(pastDeps, by, { email, role })
    const token = inviteUrl.slice(inviteUrl.lastIndexOf('/') + 1)
    await acceptInvitation(pastDeps, { token, name, password: demoStaff.password }, { limitKey: 'demo', agent: undefined })
    const user = await findUserByEmail(deps, email)
    // Their first login would do this.
    if (user) await pastDeps.db.write((tx) => joinAcceptedShopsOf(tx, pastDeps, user, { id: user.id }))
  }
}

/** Invites a person at the time of the fill, so that the invitation is still valid. */
export async function inviteNewcomer(deps: AppDeps, shop: Shop): Promise<void> {
  await inviteStaff(deps, { actor: { id: shop.merchantId }, shop }, { email: demoStaff.invited, role: 'READ_ONLY' })
}
