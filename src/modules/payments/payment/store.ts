import { and, asc, eq, inArray, isNull, sql } from 'drizzle-orm'
import type { Database, Writer } from '../../../../db/engine.ts'
import { insertOf, lockAsKnownOf, lockedRowsOf, rowsOf, updateOf, valuesOf } from '../../../../db/prepared.ts'
import { payments } from '../../../../db/schema/payments.ts'
import { leaseIsFree, leaseMs, leaseOf } from '../../../core/leases.ts'
import { type Due, dueOf } from '../../../core/partitioned-queue.ts'
import { movesOf } from '../../../core/state-machine.ts'
import { openPaymentStatuses, type Payment, type PaymentStatus, paymentTransitions, queryPauseMs } from './domain.ts'

export type PaymentStore = ReturnType<typeof createPaymentStore>

const byId = rowsOf(payments, ['id'])
const byReference = rowsOf(payments, ['processor', 'processorReference', 'accountId'])
const byStatus = rowsOf(payments, ['orderId', 'status'])
const ofOrder = rowsOf(payments, ['orderId'], asc(payments.id))
const lockedOfOrder = lockedRowsOf(payments, ['orderId'], asc(payments.id))
const insert = insertOf(payments)
/** What of a payment may be another once somebody else has had it. */
const known = ['status', 'processorReference', 'authorized', 'captured', 'refunded', 'leaseHolder', 'leaseUntil', 'updatedAt'] as const
const lockAsKnown = lockAsKnownOf(payments, 'id', known)
const leased = updateOf(payments, valuesOf(payments, ['orderId', 'leaseHolder']), ['id'])
const which = sql.placeholder('which')
const asked = updateOf(
  payments,
  and(
    eq(payments.id, which),
    sql`(${payments.askedAt} is null or ${payments.askedAt} <= ${sql.placeholder('latest')} or ${payments.askedAt} > ${sql.placeholder('now')})`,
  ),
  ['id'],
)
const askSooner = updateOf(
  payments,
  and(eq(payments.id, which), sql`(${payments.askAt} is null or ${payments.askAt} > ${sql.placeholder('latest')})`),
  ['id'],
)
const askClaimed = updateOf(payments, and(eq(payments.id, which), eq(payments.askAt, sql.placeholder('wasToAskAt'))), ['id'])
const named = updateOf(payments, and(eq(payments.id, which), isNull(payments.processorReference)))
const leaseWithin = (states: readonly PaymentStatus[]) =>
  updateOf(payments, and(eq(payments.id, which), inArray(payments.status, [...states]), leaseIsFree(payments)))
const leases = { underWay: leaseWithin(openPaymentStatuses), notCaptured: leaseWithin([...openPaymentStatuses, 'FAILED', 'VOIDED']) }

/**
 * @param orderChanged called inside every write that changes what an order shows of its payments
 * @param moved called inside every write with a payment that has moved on, or that is new
 */
export function createPaymentStore(
  { read }: Pick<Database, 'read'>,
  orderChanged: (tx: Writer, orderId: string) => void,
  moved: (tx: Writer, payment: Payment) => void,
) {
  return {
    ...movesOf(payments, paymentTransitions, { changed: (tx, { orderId }) => orderChanged(tx, orderId), moved, known }),

    async insert(tx: Writer, payment: Payment): Promise<void> {
      await insert(tx, payment)
      orderChanged(tx, payment.orderId)
      moved(tx, payment)
    },
    async find(id: string): Promise<Payment | undefined> {
      return read.first(byId, { id })
    },
    /** By the name that its processor has for it, among the payments of one account. */
    async findByReference(
      named: Pick<Payment, 'processor' | 'accountId'> & { readonly processorReference: string },
    ): Promise<Payment | undefined> {
      return read.first(byReference, named)
    },
    /** Oldest first. */
    async ofOrder(orderId: string): Promise<Payment[]> {
      return read.all(ofOrder, { orderId })
    },
    /** Those of an order as they stand, oldest first, in a write that has them to itself from then on: also their leases, which are taken without the order. */
    async ofOrderWithin(tx: Writer, orderId: string): Promise<Payment[]> {
      return tx.all(lockedOfOrder, { orderId })
    },
    /** Has a payment to itself that is as it is known; if it is not, the write throws NothingChanged. */
    async lockAsKnown(tx: Writer, payment: Payment): Promise<void> {
      await lockAsKnown(tx, payment)
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
    /** Notes that the processor of a payment is asked for somebody who waits; false where it was, less than two seconds ago. */
    async noteAsked(tx: Writer, id: string, now: number): Promise<boolean> {
      return (await asked(tx, { askedAt: now }, { which: id, now, latest: now - queryPauseMs })).length > 0
    },
    /** Payments that ended and are to be asked about by `now`: the longest waiting of each processor. */
    async toAsk(now: number, limit: number): Promise<Due[]> {
      return dueOf(read, sql`payments where ask_at is not null and ask_at <= ${now}`, 'ask_at', limit)
    },
    /** Has a payment that ended asked about by `askAt`, if it would not be so soon. */
    async askSooner(tx: Writer, id: string, askAt: number): Promise<void> {
      await askSooner(tx, { askAt }, { which: id, latest: askAt })
    },
    /** Puts off when a payment is asked about, unless somebody else has since it was read; whether that was so. */
    async putOffAsking(tx: Writer, { id, askAt }: Pick<Payment, 'id' | 'askAt'>, next: number | null): Promise<boolean> {
      return (await askClaimed(tx, { askAt: next }, { which: id, wasToAskAt: askAt })).length > 0
    },
    /** Keeps the names that a processor has for a payment of which we had none; undefined when there is one by now. */
    async name(tx: Writer, id: string, names: Pick<Payment, 'processorReference' | 'references'>): Promise<Payment | undefined> {
      const [payment] = await named(tx, names, { which: id })
      if (payment) orderChanged(tx, payment.orderId)
      return payment
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
