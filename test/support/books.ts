/** Reads all rows that selling writes, directly from the database, and checks their invariants. */
import { productDocuments, variants } from '../../db/schema/catalog.ts'
import { discounts, discountUses } from '../../db/schema/discounts.ts'
import { affiliates, commissions, unifiedTransactions } from '../../db/schema/ledger.ts'
import { outbox } from '../../db/schema/outbox.ts'
import { disputes, paymentMessages, payments, refunds } from '../../db/schema/payments.ts'
import { auditLog } from '../../db/schema/people.ts'
import { sandboxPayments, sandboxRefunds } from '../../db/schema/sandbox.ts'
import {
  cartLines,
  carts,
  customerTotals,
  giftCards,
  giftCardTransactions,
  orderEvents,
  orderGiftCards,
  orderLines,
  orderNumbers,
  orders,
} from '../../db/schema/selling.ts'
import { isAssured } from '../../src/modules/selling/order/domain.ts'
import type { TestApp } from './app.ts'

export type Books = Awaited<ReturnType<typeof booksOf>>

/** Returns the rows of each table in order of creation. No write may be in flight. */
export async function booksOf({ deps: { db } }: Pick<TestApp, 'deps'>) {
  const { read } = db
  return {
    orders: await read.select().from(orders).orderBy(orders.shopId, orders.number),
    lines: await read.select().from(orderLines).orderBy(orderLines.orderId, orderLines.position),
    orderCards: await read.select().from(orderGiftCards).orderBy(orderGiftCards.orderId, orderGiftCards.giftCardId),
    events: await read.select().from(orderEvents).orderBy(orderEvents.orderId, orderEvents.position),
    payments: await read.select().from(payments).orderBy(payments.id),
    refunds: await read.select().from(refunds).orderBy(refunds.id),
    disputes: await read.select().from(disputes).orderBy(disputes.id),
    messages: await read.select().from(paymentMessages).orderBy(paymentMessages.id),
    numbers: await read.select().from(orderNumbers).orderBy(orderNumbers.shopId),
    carts: await read.select().from(carts).orderBy(carts.createdAt, carts.id),
    cartLines: await read.select().from(cartLines).orderBy(cartLines.id),
    variants: await read.select().from(variants).orderBy(variants.id),
    documents: await read
      .select({ productId: productDocuments.productId, document: productDocuments.document })
      .from(productDocuments)
      .orderBy(productDocuments.productId),
    cards: await read.select().from(giftCards).orderBy(giftCards.id),
    cardMoves: await read.select().from(giftCardTransactions).orderBy(giftCardTransactions.giftCardId, giftCardTransactions.id),
    discounts: await read.select().from(discounts).orderBy(discounts.id),
    discountUses: await read.select().from(discountUses).orderBy(discountUses.orderId, discountUses.discountId),
    affiliates: await read.select().from(affiliates).orderBy(affiliates.id),
    commissions: await read.select().from(commissions).orderBy(commissions.orderId),
    movements: await read.select().from(unifiedTransactions).orderBy(unifiedTransactions.key),
    outbox: await read.select().from(outbox).orderBy(outbox.key),
    totals: await read.select().from(customerTotals).orderBy(customerTotals.customerId, customerTotals.currency),
    sandbox: await read.select().from(sandboxPayments).orderBy(sandboxPayments.id),
    sandboxRefunds: await read.select().from(sandboxRefunds).orderBy(sandboxRefunds.id),
    audits: await read.select({ action: auditLog.action, subject: auditLog.subject }).from(auditLog).orderBy(auditLog.id),
  }
}

/**
 * Returns the books without values that differ between two equal runs: times are `<time>`, secrets are `<sealed>`, and
 * ids are numbered by their first appearance.
 */
export function normalizedBooks(books: Books): unknown {
  const names = new Map<string, string>()
  const counts = new Map<string, number>()
  const named = (id: string): string => {
    const existing = names.get(id)
    if (existing !== undefined) return existing
    const kind = id.slice(0, id.indexOf('_'))
    const nth = (counts.get(kind) ?? 0) + 1
    counts.set(kind, nth)
    names.set(id, `${kind}_${nth}`)
    return `${kind}_${nth}`
  }
  const plain = (value: unknown, key: string): unknown => {
    if (value === null) return null
    if (/At$|^at$|^timestamp$/.test(key)) return '<time>'
    if (/^sealed/.test(key)) return '<sealed>'
    if (key === 'placedFrom') return '<address>'
    if (key === 'body' || key === 'document') return plain(JSON.parse(String(value)), 'json')
    if (typeof value === 'string') return value.replace(/\b[a-z]+_[0-9a-hjkmnp-tv-z]{26}\b/g, named)
    if (Array.isArray(value)) return value.map((one) => plain(one, key))
    if (typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one, name)]))
    return value
  }
  // An attempt that a crash interrupted counts too, so attempts differ.
  const withoutTries = <Row extends { attempts: number }>({ attempts: _, ...row }: Row) => row
  return plain({ ...books, messages: books.messages.map(withoutTries), refunds: books.refunds.map(withoutTries) }, 'books')
}

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0)
const endedUnpaid = ({ status, confirmedAt }: Books['orders'][number]) =>
  (status === 'EXPIRED' || status === 'CANCELLED') && confirmedAt === null

/** Returns the broken rules, one sentence each. The rules hold whenever no write is in flight. */
export function violationsOf(books: Books): string[] {
  const found: string[] = []
  const rule = (holds: boolean, what: string) => {
    if (!holds) found.push(what)
  }
  const same = (actual: number, expected: number, what: string) => rule(actual === expected, `${what}: ${actual}, not ${expected}`)
  integerAmounts(books, rule)
  for (const order of books.orders) {
    unfinishedWork(books, order, rule)
    sums(books, order, same)
    refundSums(books, order, rule, same)
    linesToRefund(books, order, rule, same)
    confirmedOnce(books, order, same, rule)
  }
  for (const payment of books.payments) {
    const { id, authorized, captured, refunded } = payment
    rule(0 <= refunded && refunded <= captured && captured <= authorized, `amounts of ${id}`)
  }
  stock(books, rule, same)
  giftCardLedgers(books, rule, same)
  soldGiftCards(books, same)
  discountUsesOf(books, rule, same)
  numbersAndCarts(books, rule, same)
  customersAndPartners(books, rule, same)
  return found
}

type Rule = (holds: boolean, what: string) => void
type Same = (actual: number, expected: number, what: string) => void
type OneOrder = Books['orders'][number]

const moneyColumns =
  /^(amount|authorized|captured|refunded|reversed|spent|balance|initialAmount|unitPrice|usdCents|price)$|[tT]otal$|Amount$/

function integerAmounts(books: Books, rule: Rule): void {
  for (const [table, rows] of Object.entries(books))
    for (const row of rows)
      for (const [column, value] of Object.entries(row))
        if (typeof value === 'number') rule(Number.isSafeInteger(value), `${table}.${column} is ${value}`)
        else if (moneyColumns.test(column) && value !== null) rule(false, `${table}.${column} is not a number`)
}

/** Checks that each unfinished order and refund has a time to resume, so that a crash leaves no work behind. */
function unfinishedWork({ payments: allPayments, refunds: allRefunds }: Books, order: OneOrder, rule: Rule): void {
  const orderPayments = allPayments.filter(({ orderId }) => orderId === order.id)
  const openPayments = orderPayments.filter(({ status }) => status === 'PENDING' || status === 'AUTHORIZED')
  const isAsked = openPayments.length > 0
  // A manual payment waits for the shop or for the order's expiry, so it is not resumed.
  const isOpenAtProcessor = openPayments.some(({ processor }) => processor !== 'manual')
  const hasWorkToUndo = orderPayments.some(({ status }) => status === 'REQUIRES_ACTION') || order.holds !== 'RELEASED'
  const isOpenPayment =
    order.status === 'PAID' ||
    order.status === 'COMPENSATING' ||
    (order.status === 'PENDING_PAYMENT' && isOpenAtProcessor) ||
    (endedUnpaid(order) && (isAsked || hasWorkToUndo))
  rule(!isOpenPayment || order.resumeAt !== null, `order ${order.number} (${order.status}) has no time to resume`)
  for (const { orderId, status, resumeAt } of allRefunds) {
    const isAsked = status === 'PENDING' || status === 'CLAIMABLE'
    // A succeeded refund may be watched, because it can still fail.
    if (orderId === order.id && status !== 'SUCCEEDED')
      rule(isAsked === (resumeAt !== null), `the time to resume a refund of order ${order.number} does not fit its status`)
  }
}

function sums({ lines, orderCards, payments: allPayments }: Books, order: OneOrder, same: Same): void {
  const linesOfOrder = lines.filter(({ orderId }) => orderId === order.id)
  const what = (field: string) => `${field} of order ${order.number}`
  for (const line of linesOfOrder) same(line.total, line.unitPrice * line.quantity, what('line total'))
  same(order.subtotal, sum(linesOfOrder.map(({ total }) => total)), what('subtotal'))
  same(order.discountTotal, sum(linesOfOrder.map(({ discount }) => discount)), what('discount'))
  same(order.discountTotal, sum(order.discounts.map(({ kind, amount }) => (kind === 'FREE_SHIPPING' ? 0 : amount))), what('discounts'))
  for (const line of linesOfOrder) same(line.discount, Math.min(line.total, Math.max(0, line.discount)), what('line discount'))
  // At most one discount lowers prices, and one gives free shipping.
  same(order.discounts.length, new Set(order.discounts.map(({ kind }) => kind === 'FREE_SHIPPING')).size, what('number of discounts'))
  if (order.discounts.some(({ kind }) => kind === 'FREE_SHIPPING')) same(order.shippingTotal, 0, what('free shipping'))
  const taxes = [...linesOfOrder, { taxInclusive: order.shippingTaxInclusive, taxAmount: order.shippingTax }]
  same(order.taxTotal, sum(taxes.map(({ taxInclusive, taxAmount }) => (taxInclusive ? 0 : taxAmount))), what('tax'))
  same(order.taxIncluded, sum(taxes.map(({ taxInclusive, taxAmount }) => (taxInclusive ? taxAmount : 0))), what('included tax'))
  same(order.total, order.subtotal + order.shippingTotal + order.taxTotal - order.discountTotal, what('total'))
  same(order.giftCardTotal, sum(orderCards.filter(({ orderId }) => orderId === order.id).map(({ amount }) => amount)), what('gift cards'))
  same(order.amountDue, order.total - order.giftCardTotal, what('amount due'))
  const all = allPayments.filter(({ orderId }) => orderId === order.id)
  for (const { amount } of all) same(amount, order.amountDue, what('payment'))
  const live = all.filter(({ status }) => status !== 'FAILED' && status !== 'VOIDED')
  same(Math.min(live.length, 1), live.length, what('live payments'))
}

function refundSums(
  { payments: allPayments, refunds: allRefunds, orderCards, movements }: Books,
  order: OneOrder,
  rule: Rule,
  same: Same,
): void {
  const what = (field: string) => `${field} of order ${order.number}`
  const done = allRefunds.filter(({ orderId, status }) => orderId === order.id && status === 'SUCCEEDED')
  const counted = done.filter(({ purpose }) => purpose !== 'LATE_CAPTURE')
  // Gift cards are refunded once the refund is certain, even if the processor's part is still pending.
  const certainRefunds = allRefunds.filter(
    (refund) => refund.orderId === order.id && refund.purpose !== 'LATE_CAPTURE' && isAssured(refund),
  )
  const giftCardShares = certainRefunds.flatMap((refund) => refund.giftCards)
  same(order.refundedTotal, sum(counted.map(({ amount }) => amount)), what('refunds'))
  same(order.giftCardRefundedTotal, sum(certainRefunds.map(({ giftCardAmount }) => giftCardAmount)), what('gift-card refunds'))
  same(order.giftCardRefundedTotal, sum(giftCardShares.map(({ amount }) => amount)), what('shares of gift-card refunds'))
  rule(order.refundedTotal <= order.capturedTotal, what('refund above the capture'))
  for (const card of orderCards.filter(({ orderId }) => orderId === order.id)) {
    same(
      card.refunded,
      sum(giftCardShares.filter(({ giftCardId }) => giftCardId === card.giftCardId).map(({ amount }) => amount)),
      what('card refund'),
    )
    rule(card.refunded <= card.amount, what('refund to a gift card above its payment'))
  }
  if (order.paymentStatus === 'REFUNDED') same(order.refundedTotal, order.capturedTotal, what('full refund'))
  for (const payment of allPayments.filter(({ orderId }) => orderId === order.id)) {
    const paymentRefunds = done.filter(({ paymentId }) => paymentId === payment.id)
    same(payment.refunded, sum(paymentRefunds.map(({ amount }) => amount)), what('refunds of a payment'))
  }
  const rowsOf = (...keys: string[]) => movements.filter(({ key }) => keys.includes(key)).length
  for (const { id, amount, status } of allRefunds.filter(({ orderId }) => orderId === order.id)) {
    const isBack = status === 'SUCCEEDED' && amount > 0
    const net = rowsOf(`refund:${id}`, `refund-settled:${id}`) - rowsOf(`refund-reversed:${id}`)
    same(net, isBack ? 1 : 0, what('rows of a refund'))
  }
  for (const { id, giftCards: shares } of certainRefunds) {
    for (const { giftCardId } of shares)
      same(movements.filter(({ key }) => key === `gift-card-refund:${id}:${giftCardId}`).length, 1, what('rows of a gift-card refund'))
  }
}

/**
 * Checks that refunds of a line exceed neither its units nor its price, and that all units refund exactly its price.
 */
function linesToRefund({ lines, refunds: allRefunds }: Books, order: OneOrder, rule: Rule, same: Same): void {
  const counted = allRefunds.filter(({ orderId, status }) => orderId === order.id && status !== 'FAILED')
  for (const refund of counted)
    if (refund.lines.length > 0)
      same(sum(refund.lines.map(({ amount }) => amount)), refund.amount + refund.giftCardAmount, 'lines of a refund')
  for (const line of lines.filter(({ orderId }) => orderId === order.id)) {
    const lineRefunds = counted.flatMap((refund) => refund.lines).filter(({ lineId }) => lineId === line.id)
    const units = sum(lineRefunds.map(({ quantity }) => quantity))
    const linePrice = line.total - line.discount + (line.taxInclusive ? 0 : line.taxAmount)
    rule(units <= line.quantity, `refunded units of a line above its quantity in order ${order.number}`)
    rule(sum(lineRefunds.map(({ amount }) => amount)) <= linePrice, `refunds of a line above its price in order ${order.number}`)
    if (units === line.quantity) same(sum(lineRefunds.map(({ amount }) => amount)), linePrice, `refunds of a line of order ${order.number}`)
  }
}

/** Checks that the confirming write stored the event, the message and the ledger rows of a sale, each once. */
function confirmedOnce(
  { events, outbox: messages, movements, payments: allPayments }: Books,
  order: OneOrder,
  same: Same,
  rule: Rule,
): void {
  const what = (field: string) => `${field} of order ${order.number} (${order.status})`
  const isConfirmed = order.confirmedAt !== null
  const confirmedMovements = movements.filter(({ orderId, confirmed }) => orderId === order.id && confirmed)
  const moved = (wanted: string) => sum(confirmedMovements.filter(({ kind }) => kind === wanted).map(({ amount }) => amount))
  same(
    events.filter(({ orderId, type }) => orderId === order.id && type === 'CONFIRMED').length,
    isConfirmed ? 1 : 0,
    what('CONFIRMED events'),
  )
  const confirmations = messages.filter(({ key }) => key === `order.confirmed:${order.id}`)
  same(confirmations.length, isConfirmed ? 1 : 0, what('messages of the confirmation'))
  for (const payment of allPayments.filter(({ orderId, status }) => orderId === order.id && status === 'CAPTURED')) {
    const rows = movements.filter(({ key, kind }) => kind === 'CAPTURE' && key === `capture:${payment.id}`)
    if (isConfirmed) same(rows.length, 1, what('rows of a captured payment'))
    rule(
      rows.every(({ amount }) => amount === Math.min(payment.captured, order.amountDue)),
      what('another amount in the row of a capture'),
    )
  }
  same(moved('CAPTURE'), isConfirmed ? order.capturedTotal : 0, what('captures in the projection'))
  same(moved('REFUND') - moved('REFUND_REVERSED'), isConfirmed ? order.refundedTotal : 0, what('refunds in the projection'))
  same(moved('GIFT_CARD'), isConfirmed ? order.giftCardTotal : 0, what('gift cards in the projection'))
  same(moved('GIFT_CARD_REFUND'), isConfirmed ? order.giftCardRefundedTotal : 0, what('gift-card refunds in the projection'))
}

function stock({ variants: all, lines, orders: allOrders }: Books, rule: Rule, same: Same): void {
  const isHeld = (id: string) => allOrders.some((order) => order.id === id && order.holds === 'HELD')
  for (const { id, sku, trackInventory, allowBackorder, onHand, reserved } of all) {
    const heldLines = lines.filter(({ variantId, tracked, orderId }) => variantId === id && tracked && isHeld(orderId))
    same(reserved, sum(heldLines.map(({ quantity }) => quantity)), `reserved of ${sku}`)
    rule(reserved >= 0, `reserved of ${sku} below zero`)
    if (trackInventory && !allowBackorder) rule(reserved <= onHand, `${sku}: ${reserved} reserved of ${onHand}`)
  }
}

/** Checks that a sale issued one card for each unit of a gift-card line, and that nothing else issued cards. */
function soldGiftCards({ cards, orders: all, lines }: Books, same: Same): void {
  for (const { orderId, id, giftCard, quantity, unitPrice } of lines) {
    const sold = cards.filter((card) => card.orderId === orderId && card.orderLineId === id)
    const isSale = all.some((order) => order.id === orderId && order.confirmedAt !== null)
    same(sold.length, giftCard && isSale ? quantity : 0, `gift cards of line ${id}`)
    for (const { initialAmount } of sold) same(initialAmount, unitPrice, `amount of a gift card of line ${id}`)
  }
}

function giftCardLedgers({ cards, cardMoves, orderCards }: Books, rule: Rule, same: Same): void {
  for (const { id, balance, initialAmount, last4 } of cards) {
    rule(0 <= balance && balance <= initialAmount, `gift card ${last4} holds ${balance} of ${initialAmount}`)
    same(balance, sum(cardMoves.filter(({ giftCardId }) => giftCardId === id).map(({ amount }) => amount)), `ledger of gift card ${last4}`)
  }
  for (const { orderId, giftCardId, amount, refunded } of orderCards) {
    const moved = (wanted: string) =>
      sum(
        cardMoves
          .filter((move) => move.orderId === orderId && move.giftCardId === giftCardId && move.kind === wanted)
          .map((move) => move.amount),
      )
    same(moved('HOLD'), -amount, 'hold of a gift card')
    rule([0, amount].includes(moved('RELEASE')), 'a hold was released in part, or twice')
    same(moved('REFUND'), refunded, 'refunds in the ledger of a gift card')
  }
}

/**
 * Checks that orders count as uses of their discounts until they are released or were cancelled unpaid, and that usage
 * limits hold.
 */
function discountUsesOf({ discounts: all, discountUses: uses, orders }: Books, rule: Rule, same: Same): void {
  for (const { id, holds, number, status, total, discounts: own } of orders) {
    const isUnpaid = holds === 'RELEASED' || (status === 'CANCELLED' && total === 0)
    const expected = isUnpaid ? [] : own.map((one) => one.id)
    const found = uses.filter(({ orderId }) => orderId === id).map(({ discountId }) => discountId)
    same(found.length, expected.length, `uses of discounts by order ${number}`)
    rule(
      found.every((one) => expected.includes(one)),
      `order ${number} uses another discount`,
    )
  }
  for (const { id, title, usageLimit, perCustomerLimit, used } of all) {
    const own = uses.filter(({ discountId }) => discountId === id)
    if (usageLimit !== null) same(used, own.length, `uses of ${title}`)
    rule(usageLimit === null || used <= usageLimit, `${title} was used ${used} times of ${usageLimit}`)
    for (const [, some] of Map.groupBy(own, ({ customer }) => customer))
      rule(perCustomerLimit === null || some.length <= perCustomerLimit, `${title} was used ${some.length} times by one customer`)
  }
}

function numbersAndCarts({ orders: all, numbers, carts: everyCart }: Books, rule: Rule, same: Same): void {
  for (const [shopId, own] of Map.groupBy(all, (order) => order.shopId)) {
    own.forEach(({ number }, at) => {
      same(number, at + 1, `number of the order at ${at + 1}`)
    })
    same(numbers.find((row) => row.shopId === shopId)?.last ?? 0, own.length, 'last number of a shop')
  }
  for (const { id, status } of everyCart) {
    const own = all.filter(({ cartId }) => cartId === id)
    // A cancelled checkout stays as a cancelled order.
    const live = own.filter((order) => order.status !== 'CANCELLED' && order.status !== 'EXPIRED')
    rule(live.length <= 1, 'two live orders of one cart')
    rule(status === 'CONVERTED' ? own.length > 0 : live.length === 0, `orders of a cart that is ${status}`)
  }
}

function customersAndPartners(
  { orders: all, totals, commissions: allCommissions, refunds: allRefunds }: Books,
  rule: Rule,
  same: Same,
): void {
  for (const { customerId, currency, orders: orderCount, spent } of totals) {
    const own = all.filter((order) => order.customerId === customerId && order.currency === currency)
    same(orderCount, own.length, 'orders of a customer')
    const confirmedOrders = own.filter(({ confirmedAt }) => confirmedAt !== null)
    same(
      spent,
      sum(confirmedOrders.map(({ total, refundedTotal, giftCardRefundedTotal }) => total - refundedTotal - giftCardRefundedTotal)),
      'spent',
    )
  }
  for (const order of all) {
    const commission = allCommissions.find(({ orderId }) => orderId === order.id)
    if (order.confirmedAt !== null) rule((order.affiliateId === null) === (commission === undefined), 'commission of an order')
    if (!commission) continue
    rule(0 <= commission.reversed && commission.reversed <= commission.amount, 'a commission below zero')
    const isFullyRefunded =
      order.refundedTotal + order.giftCardRefundedTotal === order.total &&
      allRefunds.some(({ orderId, status }) => orderId === order.id && status === 'SUCCEEDED')
    if (isFullyRefunded) same(commission.reversed, commission.amount, 'commission of an order that was refunded')
  }
}

const isAwaitedRefund = ({ status }: Books['refunds'][number]) => status === 'CLAIMABLE' || status === 'MANUAL'

/** Returns the broken rules of `violationsOf`, and of those that hold once all work is finished. */
export function violationsAtRest(books: Books): string[] {
  const found = violationsOf(books)
  const rule = (holds: boolean, what: string) => {
    if (!holds) found.push(what)
  }
  for (const order of books.orders) {
    const what = `order ${order.number} (${order.status})`
    rule(!['PAID', 'COMPENSATING'].includes(order.status), `${what} is not at rest`)
    // While a shopper is on a processor's page, the payment is queried regularly.
    const isPolled = books.payments.some(
      ({ orderId, status }) => orderId === order.id && ['REQUIRES_ACTION', 'PROCESSING'].includes(status),
    )
    rule(order.resumeAt === null || (order.status === 'PENDING_PAYMENT' && isPolled), `${what} is to be resumed`)
    if (order.confirmedAt !== null) rule(order.holds === 'COMMITTED', `${what} is a sale whose stock is ${order.holds}`)
    if (endedUnpaid(order)) {
      rule(order.holds === 'RELEASED', `${what} still holds its stock`)
    }
    // Money that the shopper must claim, or that the shop refunds by hand, does not count as retained.
    const owed = books.refunds.filter(
      (refund) => refund.orderId === order.id && refund.purpose !== 'LATE_CAPTURE' && isAwaitedRefund(refund),
    )
    const retained = order.capturedTotal - order.refundedTotal - sum(owed.map(({ amount }) => amount))
    if (endedUnpaid(order) || order.status === 'CANCELLED') rule(retained === 0, `${what} retains money`)
    const held = books.orderCards.filter(({ orderId }) => orderId === order.id)
    const released = books.cardMoves.filter(({ orderId, kind }) => orderId === order.id && kind === 'RELEASE')
    rule(released.length === (endedUnpaid(order) ? held.length : 0), `${what} released ${released.length} of ${held.length} gift cards`)
    if (order.confirmedAt === null) rule(!books.commissions.some(({ orderId }) => orderId === order.id), `${what} earned a commission`)
  }
  rule(
    books.refunds.every(({ status }) => status !== 'PENDING'),
    'a refund is not settled',
  )
  processorAgrees(books, rule)
  return found
}

/** Checks that the sandbox and the books have the same amounts. */
function processorAgrees(
  { payments: allPayments, sandbox, sandboxRefunds: processorRefunds, refunds: allRefunds, movements }: Books,
  rule: Rule,
): void {
  const same: Same = (actual, expected, what) => rule(actual === expected, `${what}: ${actual}, not ${expected}`)
  for (const payment of allPayments.filter(({ processor }) => processor === 'sandbox')) {
    const there = sandbox.find(({ id }) => id === payment.id)
    const what = `payment that is ${payment.status} here and ${there?.status ?? 'missing'} at the processor`
    rule((there?.captured ?? 0) === payment.captured, `${what}: captured ${there?.captured}, not ${payment.captured}`)
    rule((there?.refunded ?? 0) === payment.refunded, `${what}: refunded ${there?.refunded}, not ${payment.refunded}`)
    const isOver = payment.status === 'FAILED' || payment.status === 'VOIDED'
    if (isOver) rule(there?.status !== 'AUTHORIZED' && there?.status !== 'PENDING', `${what}: it may still be captured`)
    const rows = movements.filter(({ kind, key }) => kind === 'CAPTURE' && `${key}:`.startsWith(`capture:${payment.id}:`))
    same(sum(rows.map(({ amount }) => amount)), payment.captured, `${what}: in the books`)
  }
  for (const { id } of processorRefunds)
    rule(
      allRefunds.some((refund) => refund.id === id && refund.status === 'SUCCEEDED'),
      'a refund exists only at the processor',
    )
}

/** Returns events that were removed or changed. Events may only be added. */
export function missingEvents(before: Books, after: Books): string[] {
  const now = new Map(after.events.map((event) => [event.id, JSON.stringify(event)]))
  return before.events.filter((event) => now.get(event.id) !== JSON.stringify(event)).map(({ id, type }) => `${type} ${id}`)
}
