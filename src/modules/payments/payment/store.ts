import { and, asc, eq, inArray, isNull, sql } from 'drizzle-orm'
import type { Database, Writer } from '../../../../db/engine.ts'
import { insertOf, lockAsKnownOf, lockedRowsOf, rowsOf, updateOf, valuesOf } from '../../../../db/prepared.ts'
import { payments } from '../../../../db/schema/payments.ts'
import { latestLeaseEnd, leaseIsFreeCondition, leaseOf } from '../../../core/leases.ts'
import { type DueItem, selectDue } from '../../../core/partitioned-queue.ts'
import { createStateMachine } from '../../../core/state-machine.ts'
import { openPaymentStatuses, type Payment, type PaymentStatus, paymentTransitions, queryPauseMs } from './domain.ts'

const byId = rowsOf(payments, ['id'])
const byReference = rowsOf(payments, ['processor', 'processorReference', 'accountId'])
const byStatus = rowsOf(payments, ['orderId', 'status'])
const ofOrder = rowsOf(payments, ['orderId'], asc(payments.id))
const lockedOfOrder = lockedRowsOf(payments, ['orderId'], asc(payments.id))
const insert = insertOf(payments)
/** The columns that another run may change. */
const changingColumns = [
  'status',
  'processorReference',
  'authorized',
  'captured',
  'refunded',
  'leaseHolder',
  'leaseUntil',
  'updatedAt',
] as const
const lockAsKnown = lockAsKnownOf(payments, 'id', changingColumns)
const leased = updateOf(payments, valuesOf(payments, ['orderId', 'leaseHolder']), ['id'])
const which = sql.placeholder('which')
const askedUpdate = updateOf(
  payments,
  and(
    eq(payments.id, which),
    sql`(${payments.askedAt} is null or ${payments.askedAt} <= ${sql.placeholder('latest')} or ${payments.askedAt} > ${sql.placeholder('now')})`,
  ),
  ['id'],
)
const queryBy = updateOf(
  payments,
  and(eq(payments.id, which), sql`(${payments.askAt} is null or ${payments.askAt} > ${sql.placeholder('latest')})`),
  ['id'],
)
const askClaimed = updateOf(payments, and(eq(payments.id, which), eq(payments.askAt, sql.placeholder('wasToAskAt'))), ['id'])
const referenceUpdate = updateOf(payments, and(eq(payments.id, which), isNull(payments.processorReference)))
const leaseWithin = (states: readonly PaymentStatus[]) =>
  updateOf(payments, and(eq(payments.id, which), inArray(payments.status, [...states]), leaseIsFreeCondition(payments)))
const leases = { openOnly: leaseWithin(openPaymentStatuses), notCaptured: leaseWithin([...openPaymentStatuses, 'FAILED', 'VOIDED']) }

/**
 * @param orderChanged called inside every write that changes what an order shows of its payments
 * @param moved called inside every write with a payment that is new or changed its status
 */
export function createPaymentStore(
  { read }: Pick<Database, 'read'>,
  orderChanged: (tx: Writer, orderId: string) => void,
  moved: (tx: Writer, payment: Payment) => void,
) {
  return {
    ...createStateMachine(payments, paymentTransitions, { onChange: (tx, { orderId }) => orderChanged(tx, orderId), onMove: moved }),

    async insert(tx: Writer, payment: Payment): Promise<void> {
      await insert(tx, payment)
      orderChanged(tx, payment.orderId)
      moved(tx, payment)
    },
    find: async (id: string): Promise<Payment | undefined> => read.first(byId, { id }),
    /** By the processor's reference, among the payments of one account. */
    async findByReference(
      reference: Pick<Payment, 'processor' | 'accountId'> & { readonly processorReference: string },
    ): Promise<Payment | undefined> {
      return read.first(byReference, reference)
    },
    /** Oldest first. */
    ofOrder: async (orderId: string): Promise<Payment[]> => read.all(ofOrder, { orderId }),
    /**
     * Reads and locks the payments of an order, oldest first. Leases are taken without the order's lock, so payments
     * are locked too.
     */
    ofOrderWithin: async (tx: Writer, orderId: string): Promise<Payment[]> => tx.all(lockedOfOrder, { orderId }),
    /** Locks a payment without reading it; the write throws NothingChanged if it differs. */
    async lockAsKnown(tx: Writer, payment: Payment): Promise<void> {
      await lockAsKnown(tx, payment)
    },
    /**
     * Leases a payment for a call; undefined while another run holds it.
     * @param options `which`: open payments, or also those that ended without money, to void them; `sent`: set with
     *   the lease
     */
    async lease(
      tx: Writer,
      id: string,
      { holder, now, which, sent }: { holder: string; now: number; which: keyof typeof leases; sent: Partial<Pick<Payment, 'sentAt'>> },
    ): Promise<Payment | undefined> {
      const [payment] = await leases[which](
        tx,
        { ...leaseOf(holder, now), ...sent },
        { which: id, holder, now, farAhead: latestLeaseEnd(now) },
      )
      return payment
    },
    /** Returns a run's leases on an order's payments. */
    async endLeases(tx: Writer, orderId: string, leaseHolder: string): Promise<void> {
      await leased(tx, { leaseUntil: 0 }, { orderId, leaseHolder })
    },
    /** Records a query for a waiting caller; false if the last was less than two seconds ago. */
    async recordQuery(tx: Writer, id: string, now: number): Promise<boolean> {
      return (await askedUpdate(tx, { askedAt: now }, { which: id, now, latest: now - queryPauseMs })).length > 0
    },
    /** Ended payments to query by `now`, longest waiting first for each processor. */
    async dueForQuery(now: number, limit: number): Promise<DueItem[]> {
      return selectDue(read, sql`payments where ask_at is not null and ask_at <= ${now}`, 'ask_at', limit)
    },
    /** Moves an ended payment's next query to `askAt`, if it is later or not set. */
    async queryBy(tx: Writer, id: string, askAt: number): Promise<void> {
      await queryBy(tx, { askAt }, { which: id, latest: askAt })
    },
    /** Sets the next query, unless another run changed it since it was read. Returns whether it was set. */
    async setNextQuery(tx: Writer, { id, askAt }: Pick<Payment, 'id' | 'askAt'>, next: number | null): Promise<boolean> {
      return (await askClaimed(tx, { askAt: next }, { which: id, wasToAskAt: askAt })).length > 0
    },
    /** Stores the references of a payment without one; undefined if it has one by now. */
    async name(tx: Writer, id: string, names: Pick<Payment, 'processorReference' | 'references'>): Promise<Payment | undefined> {
      const [payment] = await referenceUpdate(tx, names, { which: id })
      if (payment) orderChanged(tx, payment.orderId)
      return payment
    },
    /** Inside a write. */
    get: async (tx: Writer, id: string): Promise<Payment | undefined> => tx.first(byId, { id }),
    /** The payment that paid an order. */
    async capturedOf(tx: Writer, orderId: string): Promise<Payment | undefined> {
      return tx.first(byStatus, { orderId: orderId, status: 'CAPTURED' })
    },
  }
}
