import type { Writer } from '../../../../db/engine.ts'
import { type Actor, locking } from '../../../core/command-context.ts'
import type { Customer } from './domain.ts'
import type { ProvenCustomer } from './guest-orders.ts'
import type { CustomerDeps } from './providers.ts'

/** Batches per request; the rest joins at the next login. */
const batchesMax = 10

/**
 * Records inside a write that a customer has proven their e-mail address, and joins some of their guest orders.
 * `joinGuestOrders` joins the rest.
 * @returns whether there may be more
 */
export async function recordAddressProof(tx: Writer, deps: CustomerDeps, customer: ProvenCustomer, actor: Actor): Promise<boolean> {
  await deps.customerStore.prove(tx, customer.id, deps.clock.now())
  return joinBatch(tx, deps, customer, actor)
}

/**
 * Joins a customer's guest orders if their address is proven. Works in small complete writes, so an interruption loses
 * and duplicates nothing. Runs at each login, because guests can buy after the proof.
 */
export async function joinGuestOrders(
  deps: CustomerDeps,
  customer: ProvenCustomer & Pick<Customer, 'emailProvenAt'>,
  actor: Actor,
): Promise<void> {
  if (customer.emailProvenAt === null || !(await hasGuestOrders(deps, customer))) return
  await joinRemainingOrders(deps, customer, actor)
}

/** Joins the remaining guest orders after the address was proven. */
export async function joinRemainingOrders(deps: CustomerDeps, { id }: Pick<Customer, 'id'>, actor: Actor): Promise<void> {
  for (let batch = 0; batch < batchesMax; batch++) {
    const isMore = await deps.db.write(async (tx) => {
      // Read again: the address may have changed, which removes the proof.
      const customer = await deps.customerStore.lock(tx, id)
      return customer !== undefined && customer.emailProvenAt !== null && joinBatch(tx, deps, customer, actor)
    }, locking)
    if (!isMore) return
  }
}

async function hasGuestOrders({ guestOrders, db }: CustomerDeps, customer: ProvenCustomer): Promise<boolean> {
  for (const orders of guestOrders) if (await orders.exist(db.read, customer)) return true
  return false
}

/** Joins all guest orders inside the write that erases the customer, proven or not: nobody can see them afterwards. */
export async function joinAllGuestOrders(tx: Writer, deps: CustomerDeps, customer: ProvenCustomer, actor: Actor): Promise<void> {
  while (await joinBatch(tx, deps, customer, actor));
}

async function joinBatch(tx: Writer, { guestOrders }: CustomerDeps, { id, shopId, email }: ProvenCustomer, actor: Actor): Promise<boolean> {
  let isMore = false
  for (const orders of guestOrders) isMore = (await orders.join(tx, { id, shopId, email }, actor)) || isMore
  return isMore
}
