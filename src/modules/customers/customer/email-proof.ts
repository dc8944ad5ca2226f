import type { Writer } from '../../../../db/engine.ts'
import { type Actor, locking } from '../../../core/command-context.ts'
import type { Customer } from './domain.ts'
import type { Proven } from './guest-orders.ts'
import type { CustomerDeps } from './providers.ts'

/** Of one request: whoever has more finds the rest at their next login. */
const batchesMax = 10

/**
 * A customer has shown, by what was sent there, that they read what goes to the e-mail address of their account: inside the write that found
 * it so. With it some of what they bought as guests becomes theirs; `joinGuestOrders` brings the rest.
 * @returns whether there may be more
 */
export async function noteAddressProven(tx: Writer, deps: CustomerDeps, customer: Proven, actor: Actor): Promise<boolean> {
  await deps.customerStore.prove(tx, customer.id, deps.clock.now())
  return join(tx, deps, customer, actor)
}

/**
 * Makes what a customer bought as a guest theirs, where their address is proven: some in each write, so that none lasts long, and each write
 * whole, so that nothing is lost or counted twice whenever this stops. Called at each login: a guest may buy after the address was proven.
 */
export async function joinGuestOrders(deps: CustomerDeps, customer: Proven & Pick<Customer, 'emailProvenAt'>, actor: Actor): Promise<void> {
  if (customer.emailProvenAt === null || !(await areThere(deps, customer))) return
  await joinTheRest(deps, customer, actor)
}

/** The same for one whose address was proven just now. */
export async function joinTheRest(deps: CustomerDeps, { id }: Pick<Customer, 'id'>, actor: Actor): Promise<void> {
  for (let batch = 0; batch < batchesMax; batch++) {
    const isMore = await deps.db.write(async (tx) => {
      // As it stands: the address may be another by now, and then its proof is none.
      const customer = await deps.customerStore.lock(tx, id)
      return customer !== undefined && customer.emailProvenAt !== null && join(tx, deps, customer, actor)
    }, locking)
    if (!isMore) return
  }
}

async function areThere({ guestOrders, db }: CustomerDeps, customer: Proven): Promise<boolean> {
  for (const orders of guestOrders) if (await orders.areThere(db.read, customer)) return true
  return false
}

/**
 * The same of all of them, inside one write, for a customer whose data is erased in it: whether the address is proven is of no matter, since
 * nobody can look at what they have any more.
 */
export async function joinAllWithin(tx: Writer, deps: CustomerDeps, customer: Proven, actor: Actor): Promise<void> {
  while (await join(tx, deps, customer, actor));
}

async function join(tx: Writer, { guestOrders }: CustomerDeps, { id, shopId, email }: Proven, actor: Actor): Promise<boolean> {
  let isMore = false
  for (const orders of guestOrders) isMore = (await orders.join(tx, { id, shopId, email }, actor)) || isMore
  return isMore
}
