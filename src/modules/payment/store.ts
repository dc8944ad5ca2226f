import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import type { Database, Writer } from '../../../db/engine.ts'
import { insertOf, lockedRowsOf, rowsOf, updateOf, valuesOf } from '../../../db/prepared.ts'
import { payments } from '../../../db/schema/payments.ts'
import { leaseIsFree, leaseMs, leaseOf } from '../../core/leases.ts'
import { movesOf } from '../../core/moves.ts'
import { openPaymentStatuses, type Payment, type PaymentStatus, paymentTransitions } from './domain.ts'

export type PaymentStore = ReturnType<typeof createPaymentStore>

const byId = rowsOf(payments, ['id'])
const byReference = rowsOf(payments, ['processor', 'processorReference'])
const byStatus = rowsOf(payments, ['orderId', 'status'])
const ofOrder = rowsOf(payments, ['orderId'], asc(payments.id))
const lockedOfOrder = lockedRowsOf(payments, ['orderId'], asc(payments.id))
const insert = insertOf(payments)
const leased = updateOf(payments, valuesOf(payments, ['orderId', 'leaseHolder']), ['id'])
const leaseWithin = (states: readonly PaymentStatus[]) =>
  updateOf(payments, and(eq(payments.id, sql.placeholder('which')), inArray(payments.status, [...states]), leaseIsFree(payments)))
const leases = { underWay: leaseWithin(openPaymentStatuses), notCaptured: leaseWithin([...openPaymentStatuses, 'FAILED', 'VOIDED']) }

/** @param orderChanged called inside every write that changes what an order shows of its payments */
export function createPaymentStore({ read }: Pick<Database, 'read'>, orderChanged: (tx: Writer, orderId: string) => void) {
  return {
    ...movesOf(payments, paymentTransitions, { changed: (tx, { orderId }) => orderChanged(tx, orderId) }),

    async insert(tx: Writer, payment: Payment): Promise<void> {
      await insert(tx, payment)
      orderChanged(tx, payment.orderId)
    },
    async find(id: string): Promise<Payment | undefined> {
      return read.first(byId, { id })
    },
    /** By the name that its processor has for it. */
    async findByReference(processor: string, reference: string): Promise<Payment | undefined> {
      return read.first(byReference, { processor, processorReference: reference })
    },
    /** Oldest first. */
    async ofOrder(orderId: string): Promise<Payment[]> {
      return read.all(ofOrder, { orderId })
    },
    /** Those of an order as they stand, oldest first, in a write that has them to itself from then on: also their leases, which are taken without the order. */
    async ofOrderWithin(tx: Writer, orderId: string): Promise<Payment[]> {
      return tx.all(lockedOfOrder, { orderId })
    },
    /**
     * Takes a payment for a call to its processor; undefined while somebody else has it.
     * @param options `which`: those under way; or also those that have ended without money, to give them up. `sent`: set besides
     */
    async lease(
      tx: Writer,
      id: string,
      { holder, now, which, sent }: { holder: string; now: number; which: keyof typeof leases; sent: Partial<Pick<Payment, 'sentAt'>> },
    ): Promise<Payment | undefined> {
      const [payment] = await leases[which](tx, { ...leaseOf(holder, now), ...sent }, { which: id, holder, now, farAhead: now + leaseMs })
      return payment
    },
    /** Gives back what somebody holds of an order's payments. */
    async endLeases(tx: Writer, orderId: string, leaseHolder: string): Promise<void> {
      await leased(tx, { leaseUntil: 0 }, { orderId, leaseHolder })
    },
    /** Inside a write. */
    async get(tx: Writer, id: string): Promise<Payment | undefined> {
      return tx.first(byId, { id })
    },
    /** The payment that an order was paid with. */
    async capturedOf(tx: Writer, orderId: string): Promise<Payment | undefined> {
      return tx.first(byStatus, { orderId: orderId, status: 'CAPTURED' })
    },
  }
}
