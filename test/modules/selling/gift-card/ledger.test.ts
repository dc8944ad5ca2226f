/** The ledger of gift cards neither creates nor loses money under parallel operations. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { asc, eq } from 'drizzle-orm'
import fc from 'fast-check'
import { giftCards, giftCardTransactions } from '../../../../db/schema/selling.ts'
import { system } from '../../../../src/core/command-context.ts'
import { AppError } from '../../../../src/core/errors.ts'
import {
  changeGiftCard,
  giftCardsByIds,
  holdGiftCards,
  issueGiftCard,
  refundGiftCards,
  releaseGiftCards,
} from '../../../../src/modules/selling/gift-card/service.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

async function giftCardApi(app: TestApp) {
  const { shop } = await app.merchant()
  const { deps } = app
  return {
    issue: (amount: number, expiresAt: number | null = null) =>
      issueGiftCard(deps, { shop, actor: system }, { amount: { amount, currency: shop.currency }, expiresAt }),
    setStatus: (id: string, status: 'ACTIVE' | 'DISABLED') => changeGiftCard(deps, { shop, actor: system }, id, { status }),
    hold: (orderId: string, amounts: Amounts) =>
      deps.db.write((tx) =>
        holdGiftCards(tx, deps, { orderId, draws: amounts.map((one) => ({ ...one, last4: one.giftCardId.slice(-4) })) }),
      ),
    release: (orderId: string, draws: Amounts) => deps.db.write((tx) => releaseGiftCards(tx, deps, { orderId, draws })),
    refund: (orderId: string, amounts: Amounts) =>
      deps.db.write((tx) => refundGiftCards(tx, deps, { orderId, refundId: 'ref_1', amounts })),
    balance: async (id: string) => (await giftCardsByIds(deps, [id]))[0]?.balance,
    ledger: (id: string) =>
      deps.db.read.select().from(giftCardTransactions).where(eq(giftCardTransactions.giftCardId, id)).orderBy(asc(giftCardTransactions.id)),
  }
}
type Amounts = { giftCardId: string; amount: number }[]

describe('the ledger of a gift card', () => {
  test('records the issue, holds, releases and refunds of a gift card as ledger rows', async () => {
    await using app = await testApp()
    const { issue, hold, release, refund, balance, ledger } = await giftCardApi(app)
    const { id } = await issue(1_000)
    app.clock.advance(1_000)
    await hold('order_1', [{ giftCardId: id, amount: 300 }])
    await hold('order_2', [{ giftCardId: id, amount: 700 }])
    expect(await balance(id)).toBe(0)
    app.clock.advance(1_000)
    await release('order_2', [{ giftCardId: id, amount: 700 }])
    await refund('order_1', [{ giftCardId: id, amount: 100 }])
    const rows = await ledger(id)
    const issuedAt = app.clock.now() - 2_000
    expect(rows.map(({ kind, amount, orderId, refundId, at }) => [kind, amount, orderId, refundId, at - issuedAt])).toEqual([
      ['ISSUE', 1_000, null, null, 0],
      ['HOLD', -300, 'order_1', null, 1_000],
      ['HOLD', -700, 'order_2', null, 1_000],
      ['RELEASE', 700, 'order_2', null, 2_000],
      ['REFUND', 100, 'order_1', 'ref_1', 2_000],
    ])
    const [card] = await giftCardsByIds(app.deps, [id])
    expect(card).toMatchObject({ initialAmount: 1_000, balance: 800, createdAt: issuedAt, updatedAt: app.clock.now() })
  })

  test('never draws more than a gift card holds, even from many requests at once', async () => {
    await using app = await testApp()
    const { issue, hold, balance, ledger } = await giftCardApi(app)
    const { id } = await issue(1_000)
    const attempts = Array.from({ length: 20 }, (_, nth) => hold(`order_${nth}`, [{ giftCardId: id, amount: 150 }]).then(() => true))
    const outcomes = await Promise.all(attempts.map((attempt) => attempt.catch((error: unknown) => error)))
    expect(outcomes.filter((outcome) => outcome === true)).toHaveLength(6)
    for (const outcome of outcomes.filter((outcome) => outcome !== true)) expect(outcome).toMatchObject({ kind: 'CONFLICT' })
    expect(await balance(id)).toBe(100)
    expect(await ledger(id)).toHaveLength(7)
  })

  test('rolls back the whole hold when one card cannot cover its share, and names that card in the error', async () => {
    await using app = await testApp()
    const { issue, hold, setStatus, balance, ledger } = await giftCardApi(app)
    const [full, low, disabled, expired] = [await issue(500), await issue(100), await issue(500), await issue(500, app.clock.now() + 1_000)]
    await setStatus(disabled.id, 'DISABLED')
    app.clock.advance(1_000)
    for (const [other, amount] of [
      [low, 101],
      [disabled, 1],
      [expired, 1],
    ] as const) {
      const draws = [
        { giftCardId: full.id, amount: 200 },
        { giftCardId: other.id, amount },
      ]
      await expect(hold('order_1', draws)).rejects.toMatchObject({
        kind: 'CONFLICT',
        message: `The gift card that ends in ${other.id.slice(-4)} no longer covers its share of the cart. Read the cart again`,
      })
      expect([await balance(full.id), (await ledger(full.id)).length, (await ledger(other.id)).length]).toEqual([500, 1, 1])
    }
  })

  test('returns money to disabled and expired cards, but never above the initial amount', async () => {
    await using app = await testApp()
    const { issue, hold, release, refund, setStatus, balance, ledger } = await giftCardApi(app)
    const { id } = await issue(500, app.clock.now() + 1_000)
    await hold('order_1', [{ giftCardId: id, amount: 400 }])
    await setStatus(id, 'DISABLED')
    app.clock.advance(5_000)
    await refund('order_1', [{ giftCardId: id, amount: 150 }])
    await expect(release('order_1', [{ giftCardId: id, amount: 251 }])).rejects.toThrow('would exceed its initial amount')
    await expect(refund('order_1', [{ giftCardId: id, amount: 251 }])).rejects.toThrow('would exceed its initial amount')
    await expect(refund('order_1', [{ giftCardId: 'gift_none', amount: 1 }])).rejects.toThrow('does not exist')
    await release('order_1', [{ giftCardId: id, amount: 250 }])
    expect([await balance(id), (await ledger(id)).length]).toEqual([500, 4])
  })

  test('rejects amounts that are not positive integers for holds, releases and refunds', async () => {
    await using app = await testApp()
    const { issue, hold, release, refund, balance, ledger } = await giftCardApi(app)
    const { id } = await issue(500)
    await hold('order_1', [{ giftCardId: id, amount: 100 }])
    for (const amount of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])
      for (const move of [hold, release, refund])
        await expect(move('order_1', [{ giftCardId: id, amount }])).rejects.toThrow('must be a positive integer')
    expect([await balance(id), (await ledger(id)).length]).toEqual([400, 2])
  })

  test('finds gift cards by ids, in the order of ids, and skips unknown ids', async () => {
    await using app = await testApp()
    const { issue } = await giftCardApi(app)
    const ids = [(await issue(1)).id, (await issue(2)).id, (await issue(3)).id]
    expect((await giftCardsByIds(app.deps, [...ids].reverse().concat('gift_none'))).map(({ id }) => id)).toEqual(ids)
    expect(await giftCardsByIds(app.deps, [])).toEqual([])
  })
})

type CardAmount = { card: number; amount: number }
type Operation =
  | { do: 'hold' | 'release' | 'refund'; order: number; moves: CardAmount[] }
  | { do: 'status'; card: number; status: 'ACTIVE' | 'DISABLED' }
type ModelCard = { initial: number; balance: number; status: 'ACTIVE' | 'DISABLED'; expiresAt: number | null }

const cardCount = 3
const moves = fc.uniqueArray(fc.record({ card: fc.nat(cardCount - 1), amount: fc.integer({ min: 1, max: 90 }) }), {
  selector: ({ card }) => card,
  minLength: 1,
  maxLength: cardCount,
})
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('hold' as const), order: fc.nat(3), moves }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), order: fc.nat(3), moves }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('refund' as const), order: fc.nat(3), moves }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('status' as const),
      card: fc.nat(cardCount - 1),
      status: fc.constantFrom('ACTIVE' as const, 'ACTIVE' as const, 'DISABLED' as const),
    }),
  },
)
/** Cards, and rounds of operations that start at the same time, each after a pause in milliseconds. */
const program = fc.record({
  cards: fc.array(fc.record({ amount: fc.integer({ min: 1, max: 200 }), livesFor: fc.option(fc.integer({ min: 1, max: 20 })) }), {
    minLength: cardCount,
    maxLength: cardCount,
  }),
  rounds: fc.array(fc.record({ after: fc.nat(3), operations: fc.array(operation, { minLength: 1, maxLength: 4 }) }), {
    minLength: 1,
    maxLength: 6,
  }),
})

/** Applies an operation to the model of the cards. Returns undefined if it must be refused. */
function applyToModel(cards: readonly ModelCard[], operation: Operation, now: number): ModelCard[] | undefined {
  if (operation.do === 'status') return cards.map((card, at) => (at === operation.card ? { ...card, status: operation.status } : card))
  const after = cards.map((card, at) => {
    const amount = operation.moves.find((move) => move.card === at)?.amount ?? 0
    return { ...card, balance: card.balance + (operation.do === 'hold' ? -amount : amount) }
  })
  const usable = (at: number) => {
    const { status, expiresAt } = cards[at] ?? { status: 'DISABLED', expiresAt: null }
    return status === 'ACTIVE' && (expiresAt === null || expiresAt > now)
  }
  const refused =
    after.some(({ balance, initial }) => balance < 0 || balance > initial) ||
    (operation.do === 'hold' && operation.moves.some(({ card }) => !usable(card)))
  return refused ? undefined : after
}

const permutations = <One>(all: readonly One[]): One[][] =>
  all.length < 2 ? [[...all]] : all.flatMap((operation, at) => permutations(all.toSpliced(at, 1)).map((rest) => [operation, ...rest]))

/** Returns the possible states of the cards after the operations with these outcomes, over all sequential orders. */
function possibleStates(
  cards: readonly ModelCard[],
  operations: readonly { operation: Operation; succeeded: boolean }[],
  now: number,
): ModelCard[][] {
  return permutations(operations).flatMap((order) => {
    let state: readonly ModelCard[] = cards
    for (const { operation, succeeded } of order) {
      const next = applyToModel(state, operation, now)
      if ((next !== undefined) !== succeeded) return []
      state = next ?? state
    }
    return [[...state]]
  })
}

test('applies parallel holds, releases, refunds and status changes as if in sequence, and the ledger adds up', async () => {
  await using app = await testApp()
  const api = await giftCardApi(app)
  let programs = 0

  const property = fc.asyncProperty(program, async ({ cards, rounds }) => {
    const run = ++programs
    const start = app.clock.now()
    let model: ModelCard[] = cards.map(({ amount, livesFor }) => ({
      initial: amount,
      balance: amount,
      status: 'ACTIVE',
      expiresAt: livesFor === null ? null : start + livesFor,
    }))
    const ids: string[] = []
    for (const { initial, expiresAt } of model) ids.push((await api.issue(initial, expiresAt)).id)
    const lines: string[] = model.map(({ initial }, at) => `${at} ISSUE ${initial} null`)

    const perform = (operation: Operation): Promise<unknown> => {
      if (operation.do === 'status') return api.setStatus(ids[operation.card] ?? '', operation.status)
      return api[operation.do](
        `order_${run}_${operation.order}`,
        operation.moves.map(({ card, amount }) => ({ giftCardId: ids[card] ?? '', amount })),
      )
    }

    for (const { after, operations } of rounds) {
      app.clock.advance(after)
      const outcomes = await Promise.all(
        operations.map((operation) =>
          perform(operation).then(
            () => ({ operation: operation, succeeded: true }),
            (error: unknown) => {
              const isRefusal = operation.do === 'hold' ? error instanceof AppError && error.kind === 'CONFLICT' : operation.do !== 'status'
              if (!isRefusal) throw error
              return { operation: operation, succeeded: false }
            },
          ),
        ),
      )
      const rows = await giftCardsByIds(app.deps, ids)
      const found = rows.map(({ balance, status }) => ({ balance, status }))
      const possible = possibleStates(model, outcomes, app.clock.now())
      expect(possible.map((state) => state.map(({ balance, status }) => ({ balance, status })))).toContainEqual(found)
      model = model.map((card, at) => ({ ...card, ...found[at] }))
      for (const { operation, succeeded } of outcomes)
        if (succeeded && operation.do !== 'status')
          for (const { card, amount } of operation.moves)
            lines.push(
              `${card} ${operation.do.toUpperCase()} ${operation.do === 'hold' ? -amount : amount} order_${run}_${operation.order}`,
            )
    }

    const ledgers = await Promise.all(ids.map(api.ledger))
    const written = ledgers.flatMap((rows, at) => rows.map(({ kind, amount, orderId }) => `${at} ${kind} ${amount} ${orderId}`))
    expect(written.sort()).toEqual(lines.sort())
    for (const [at, rows] of ledgers.entries()) expect(rows.reduce((sum, { amount }) => sum + amount, 0)).toBe(model[at]?.balance ?? -1)
  })
  await fc.assert(property, { numRuns: 40, seed: 20_260_106 })

  const all = await app.deps.db.read.select().from(giftCards)
  expect(all.length).toBeGreaterThanOrEqual(40 * cardCount)
  for (const { balance, initialAmount } of all) {
    expect(balance).toBeGreaterThanOrEqual(0)
    expect(balance).toBeLessThanOrEqual(initialAmount)
  }
})
