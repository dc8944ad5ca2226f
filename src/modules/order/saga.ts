import type { Writer } from '../../../db/engine.ts'
import { type Actor, system } from '../../core/change.ts'
import { AppError } from '../../core/errors.ts'
import { dayOf } from '../../lib/day.ts'
import { attributeOrder, removeCommission } from '../affiliate/index.ts'
import { audit } from '../audit/index.ts'
import { commitStock, releaseStock, uncommitStock } from '../catalog/index.ts'
import { addSpending } from '../customer/index.ts'
import { rateFor } from '../fx/index.ts'
import { releaseGiftCards } from '../gift-card/index.ts'
import { type Movement, recordMovements } from '../ledger/index.ts'
import { isUnderWay, type Payment } from '../payment/domain.ts'
import { capturedPayment } from '../payment/index.ts'
import { enqueueMessage, releaseMessage, withdrawMessage } from '../webhook/index.ts'
import {
  backoffMs,
  type LocalStep,
  type Move,
  nextMove,
  type Order,
  type OrderGiftCard,
  type OrderLine,
  resumeAfterMs,
  type Saga,
  type SagaStep,
  type StepName,
  stepAttemptsMax,
  undecidedAsksMax,
} from './domain.ts'
import { appendEvent } from './events.ts'
import type { OrderDeps } from './parts.ts'
import { askPayment } from './payments.ts'
import { beginMoneyBack, settleRefund, tellCancelled, trackedLines } from './refunds.ts'

/** Far more than any saga makes: a loop that does not end is a mistake of ours. */
const movesMax = 50

const statusesOf = { forward: ['PAID'], backward: ['EXPIRED', 'COMPENSATING', 'CANCELLED'] } as const

/**
 * The one path that takes an order on, whoever asks for it: the checkout, the shopper who comes back, a processor's message, the
 * job after a crash. It makes one move after another, each in a write of its own that only one of many can make, until
 * there is nothing left to do or the processor does not answer; then the job tries again.
 * @returns the saga as it is then
 * @throws AppError NOT_FOUND
 */
export async function completeOrder(deps: OrderDeps, orderId: string): Promise<Saga> {
  let saga = await loadSaga(deps, orderId)
  const contentsOf = rememberedContents(deps, orderId)
  let asked = false
  for (let moves = 0; moves < movesMax; moves++) {
    const move = nextMove(saga, deps.clock.now())
    // Asked twice in a row, a processor says the same.
    if (move.kind === 'rest' || (move.kind === 'ask' && asked)) return atRest(deps, saga, move)
    asked ||= move.kind === 'ask'
    const after = await makeMove(deps, saga, move, contentsOf)
    if (!after) return loadSaga(deps, orderId)
    saga = after
  }
  throw new Error('the saga of an order does not come to rest')
}

async function loadSaga({ orderStore }: OrderDeps, orderId: string): Promise<Saga> {
  const saga = await orderStore.saga(orderId)
  if (!saga) throw new AppError('NOT_FOUND', 'No such order')
  return saga
}

/** Nothing to do now: nobody needs to look again, unless the processor still owes an answer. */
async function atRest(deps: OrderDeps, saga: Saga, move: Move): Promise<Saga> {
  const { order, payment } = saga
  if (move.kind === 'ask' && payment?.status === 'PENDING') return undecided(deps, saga, payment)
  const now = deps.clock.now()
  // Its time is over: the job that ends it gives its payment up.
  const isEnding = order.status === 'PENDING_PAYMENT' && payment !== undefined && isUnderWay(payment) && order.expiresAt <= now
  if (order.resumeAt === null || isEnding) return saga
  const changed = await deps.db.write((tx) => deps.orderStore.comeToRest(tx, order, now))
  return changed ? { ...saga, order: changed } : loadSaga(deps, order.id)
}

/** A processor that cannot make up its mind is asked a few times more, and then told to forget it. */
async function undecided(deps: OrderDeps, saga: Saga, payment: Payment): Promise<Saga> {
  const attempts = await postpone(deps, saga, 'AUTHORIZE')
  if (attempts >= undecidedAsksMax) await askPayment(deps, 'void', payment)
  return loadSaga(deps, saga.order.id)
}

/** Makes one move. Undefined when it could not be made now: the saga stays as it is until it is looked at again. */
async function makeMove(
  deps: OrderDeps,
  saga: Saga,
  move: Exclude<Move, { kind: 'rest' }>,
  contentsOf: () => Promise<Contents>,
): Promise<Saga | undefined> {
  switch (move.kind) {
    case 'create':
    case 'ask':
    case 'capture':
    case 'void': {
      const after = (await askPayment(deps, move.kind, move.payment)) ? await loadSaga(deps, saga.order.id) : undefined
      // An answer that leaves the same to do is none: asking on would turn in a circle.
      if (after && (move.kind === 'ask' || nextMove(after, deps.clock.now()).kind !== move.kind)) return after
      const attempts = await postpone(deps, saga, move.kind === 'capture' ? 'CAPTURE' : 'AUTHORIZE')
      if (move.kind === 'create' && attempts >= undecidedAsksMax) await askPayment(deps, 'void', move.payment)
      return undefined
    }
    case 'payNothing':
      return payNothing(deps, saga)
    case 'run':
    case 'undo':
      return takeStep(deps, saga, move, contentsOf)
    case 'endCompensation':
      return endCompensation(deps, saga)
  }
}

/** Notes a failure and when to look again. Returns how often the step has failed; 0 when this failure does not count. */
async function postpone(deps: OrderDeps, { order, steps }: Saga, step: StepName): Promise<number> {
  const { orderStore: store } = deps
  const { position = 0, attempts: before = 0 } = steps.find((one) => one.step === step) ?? {}
  const now = deps.clock.now()
  // Tries between those of the job do not count: a shopper who looks every second must not use up the processor's time.
  if (before > 0 && order.resumeAt !== null && order.resumeAt > now) return 0
  return deps.db.write(async (tx) => {
    const attempts = await store.countAttempt(tx, order.id, position, before)
    // Of many at once only one has tried.
    if (attempts === undefined) return 0
    await store.change(tx, order.id, [order.status], { resumeAt: now + backoffMs(attempts), updatedAt: now })
    return attempts
  })
}

async function payNothing(deps: OrderDeps, { order }: Saga): Promise<Saga> {
  const { orderStore: store } = deps
  await deps.db.write(async (tx) => {
    const now = deps.clock.now()
    const paid = { paymentStatus: 'CAPTURED', resumeAt: now + resumeAfterMs, updatedAt: now } as const
    if (!(await store.move(tx, order.id, ['PENDING_PAYMENT'], 'PAID', paid))) return
    await store.stepsDone(tx, order.id, ['AUTHORIZE', 'CAPTURE'], now)
    await appendEvent(tx, deps, { orderId: order.id, type: 'NOTHING_TO_PAY' })
  })
  return loadSaga(deps, order.id)
}

/** Does or undoes one of our own steps, together with the note that it is done or undone. */
async function takeStep(
  deps: OrderDeps,
  saga: Saga,
  { kind: direction, step }: { kind: 'run' | 'undo'; step: SagaStep },
  contentsOf: () => Promise<Contents>,
): Promise<Saga | undefined> {
  const { orderStore: store } = deps
  const { order } = saga
  const now = deps.clock.now()
  const forward = direction === 'run'
  try {
    const effect = effectOf(step.step as StepName, direction)
    const contents = effect && (await contentsOf())
    const taken = await deps.db.write(async (tx) => {
      const change = forward ? (['PENDING', 'DONE'] as const) : (['DONE', 'UNDONE'] as const)
      if (!(await store.takeStep(tx, step, change, statusesOf[forward ? 'forward' : 'backward'], now))) return undefined
      const changed = contents && (await effect(tx, deps, { order, ...contents }))
      return { order: changed ?? order }
    })
    // Somebody else took it: go on from where they are.
    if (!taken) return loadSaga(deps, order.id)
    const state = forward ? ('DONE' as const) : ('UNDONE' as const)
    return { ...saga, order: taken.order, steps: saga.steps.map((one) => (one === step ? { ...one, state, at: now } : one)) }
  } catch (error) {
    deps.log.error('order.step_failed', { order: order.id, step: step.step, direction, error })
    const attempts = await postpone(deps, saga, step.step as StepName)
    if (forward && attempts >= stepAttemptsMax) await compensate(deps, order, system, 'The order could not be completed')
    return undefined
  }
}

type Contents = { readonly lines: readonly OrderLine[]; readonly giftCards: readonly OrderGiftCard[] }
/** What a step does in its write; it hands the order back when it changed it. */
type Effect = (tx: Writer, deps: OrderDeps, of: { readonly order: Order } & Contents) => Promise<Order | undefined>

/** What was bought and which cards pay does not change any more: read once for all steps. */
function rememberedContents({ orderStore: store }: OrderDeps, id: string): () => Promise<Contents> {
  let reading: Promise<Contents> | undefined
  const read = async () => ({ lines: await store.lines(id), giftCards: await store.giftCards(id) })
  return () => (reading ??= read())
}

/** What a processor did is undone by a void before, and by a refund: of such a step there is only the note. */
const effectOf = (step: StepName, direction: 'run' | 'undo'): Effect | undefined =>
  step === 'AUTHORIZE' || step === 'CAPTURE' ? undefined : localSteps[step][direction]

const nothing: Effect = async () => undefined
/** A step that leaves the order's own row as it is. */
const beside =
  (effect: (...given: Parameters<Effect>) => Promise<void>): Effect =>
  async (...given) => {
    await effect(...given)
    return undefined
  }
const placedWithTheOrder = nothing
const confirmedKey = (order: Order) => `order.confirmed:${order.id}`

/** Each of our own steps, and what undoes it. */
const localSteps: Record<LocalStep, { run: Effect; undo: Effect }> = {
  RESERVE_STOCK: {
    run: placedWithTheOrder,
    undo: beside((tx, deps, { lines }) => releaseStock(tx, deps, trackedLines(lines))),
  },
  HOLD_GIFT_CARDS: {
    run: placedWithTheOrder,
    undo: beside((tx, deps, { order, giftCards }) => releaseGiftCards(tx, deps, { orderId: order.id, draws: giftCards })),
  },
  COMMIT_STOCK: {
    run: beside((tx, deps, { lines }) => commitStock(tx, deps, trackedLines(lines))),
    undo: beside((tx, deps, { lines }) => uncommitStock(tx, deps, trackedLines(lines))),
  },
  SETTLE_GIFT_CARDS: {
    run: beside(async (tx, { orderStore, clock }, { order, giftCards }) => {
      if (giftCards.length > 0) await orderStore.settleGiftCards(tx, order.id, clock.now())
    }),
    undo: beside((tx, { orderStore }, { order }) => orderStore.settleGiftCards(tx, order.id, null)),
  },
  ATTRIBUTE_AFFILIATE: {
    run: async (tx, deps, { order }) => {
      const affiliateId = await attributeOrder(tx, deps, order)
      return affiliateId === undefined ? undefined : deps.orderStore.change(tx, order.id, ['PAID'], { affiliateId })
    },
    undo: async (tx, { orderStore }, { order }) => {
      await removeCommission(tx, order.id)
      return orderStore.change(tx, order.id, ['COMPENSATING'], { affiliateId: null })
    },
  },
  WRITE_OUTBOX: {
    run: beside((tx, deps, { order, lines }) => {
      const { id, shopId, number, currency, total, customerId, email } = order
      return enqueueMessage(tx, deps, {
        shopId,
        event: 'order.confirmed',
        key: confirmedKey(order),
        data: {
          orderId: id,
          number,
          customerId,
          email,
          total: { amount: total, currency },
          lines: lines.map(({ productId, variantId, quantity }) => ({ productId, variantId, quantity })),
        },
        // Until the order is CONFIRMED, which is the next step.
        held: true,
      })
    }),
    undo: beside((tx, _, { order }) => withdrawMessage(tx, confirmedKey(order))),
  },
  CONFIRM: {
    run: confirm,
    undo: nothing,
  },
}

/** The end of the saga: the order counts as sold from here on, at the exchange rate of this day. */
async function confirm(tx: Writer, deps: OrderDeps, { order, giftCards }: { order: Order } & Contents): Promise<Order> {
  const { orderStore: store } = deps
  const now = deps.clock.now()
  const rate = await rateFor(tx, order.currency, dayOf(now))
  const confirmed = await store.move(tx, order.id, ['PAID'], 'CONFIRMED', {
    confirmedAt: now,
    fxToUsd: rate?.usdPerUnit ?? null,
    resumeAt: null,
    updatedAt: now,
  })
  if (!confirmed) throw new Error('an order that was to be confirmed is not PAID')
  await releaseMessage(tx, confirmedKey(order))
  await recordSale(tx, deps, { order: confirmed, giftCards })
  if (order.customerId !== null) await addSpending(tx, { customerId: order.customerId, currency: order.currency, amount: order.total })
  await appendEvent(tx, deps, { orderId: order.id, type: 'CONFIRMED' })
  return confirmed
}

/** @param order as its row is in this write: what was read before may be older than the steps between */
async function recordSale(tx: Writer, deps: OrderDeps, { order, giftCards }: { order: Order } & Omit<Contents, 'lines'>): Promise<void> {
  const { id: orderId, shopId, affiliateId, currency, capturedTotal } = order
  const now = deps.clock.now()
  const common = { shopId, orderId, affiliateId, currency, at: now, rateDay: dayOf(now), confirmed: true }
  const payment = capturedTotal > 0 ? await capturedPayment(tx, deps, orderId) : undefined
  const movements: Movement[] = giftCards.map(({ giftCardId, amount }) => ({
    ...common,
    kind: 'GIFT_CARD',
    key: `gift-card:${orderId}:${giftCardId}`,
    processor: 'gift_card',
    amount,
  }))
  if (payment) {
    const { id, processor } = payment
    movements.unshift({ ...common, kind: 'CAPTURE', key: `capture:${id}`, processor, amount: capturedTotal })
  }
  await recordMovements(tx, deps, movements)
}

/**
 * Turns a paid order around: its money goes back and all that was done for it is undone.
 * @returns false when the order is not PAID any more
 */
export async function compensate(
  deps: OrderDeps,
  { id: orderId, shopId }: Pick<Order, 'id' | 'shopId'>,
  actor: Actor,
  reason: string | null,
): Promise<boolean> {
  const { orderStore: store } = deps
  return deps.db.write(async (tx) => {
    const now = deps.clock.now()
    const order = await store.move(tx, orderId, ['PAID'], 'COMPENSATING', { resumeAt: now, updatedAt: now })
    if (!order) return false
    await appendEvent(tx, deps, { orderId, type: 'COMPENSATING', detail: reason === null ? {} : { reason }, actor: actor.id })
    await audit(tx, deps, { actor, action: 'order.compensated', subject: orderId, shopId })
    const payment = order.capturedTotal > 0 ? await capturedPayment(tx, deps, orderId) : undefined
    if (!payment) return true
    await beginMoneyBack(tx, deps, {
      order,
      purpose: 'COMPENSATE',
      attemptKey: `compensate:${payment.id}`,
      payment,
      parts: { amount: order.capturedTotal, giftCardAmount: 0, giftCards: [] },
      reason,
      actor: actor.id,
    })
    return true
  })
}

/** Everything of ours is undone. The order is CANCELLED once its money has gone back, too. */
async function endCompensation(deps: OrderDeps, saga: Saga): Promise<Saga | undefined> {
  const { orderStore: store } = deps
  const { order } = saga
  for (const refund of await store.refundsOf(deps.db.read, order.id)) {
    const settled = refund.status === 'PENDING' ? await settleRefund(deps, refund.id) : refund
    if (settled.status !== 'PENDING') continue
    await postpone(deps, saga, 'CAPTURE')
    return undefined
  }
  await deps.db.write(async (tx) => {
    const ended = { resumeAt: null, updatedAt: deps.clock.now() }
    if (!(await store.move(tx, order.id, ['COMPENSATING'], 'CANCELLED', ended))) return
    await appendEvent(tx, deps, { orderId: order.id, type: 'CANCELLED' })
    await tellCancelled(tx, deps, { order, reason: null })
  })
  return loadSaga(deps, order.id)
}
