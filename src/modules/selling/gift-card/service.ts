import type { Writer } from '../../../../db/engine.ts'
import type { CommandContext } from '../../../core/command-context.ts'
import { AppError, invalidField } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { assertNotStale, assertVersion } from '../../../core/versions.ts'
import type { Money } from '../../../lib/money.ts'
import { isoTimes, type Optional, pick } from '../../../lib/objects.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { type CustomerDeps, readCustomer } from '../../customers/customer/index.ts'
import { type AuthDeps, type CodeCaller, findByCode } from '../../identity/auth/index.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
import { liveSince, type ShopDeps } from '../../shop/shop/index.ts'
import {
  cardTries,
  codeBytes,
  codeHashOf,
  codeOf,
  type Draw,
  fitsCart,
  type GiftCard,
  type GiftCardView,
  giftCardView,
  isUsable,
} from './domain.ts'
import type { GiftCardDeps } from './providers.ts'
import type { GiftCardChange, GiftCardTransaction } from './store.ts'

/** A card may belong to a customer. */
export type CardIssuingDeps = GiftCardDeps & CustomerDeps

/** A card to issue; undefined means null. */
export type NewGiftCard = { amount: Money } & Optional<Pick<GiftCard, 'expiresAt' | 'customerId' | 'note'>>
/** The only response with a code. */
type IssuedGiftCard = GiftCardView & { code: string }

/** The same for every cause, so that guessing reveals nothing. */
const noSuchCard = () => new AppError('NOT_FOUND', 'No such gift card')

const hashOf = async ({ instanceKeys }: GiftCardDeps, shopId: string, code: string): Promise<string> =>
  codeHashOf(await instanceKeys.of('GIFT_CARD_CODES'), shopId, code)

/**
 * Issues a card with a new code, which only the response contains.
 * @throws AppError INVALID, naming the field; NOT_FOUND for an unknown customer
 */
export async function issueGiftCard(
  deps: CardIssuingDeps,
  by: CommandContext<Pick<ShopContext, 'id' | 'currency' | 'mode'>>,
  input: NewGiftCard,
): Promise<IssuedGiftCard> {
  const { shop } = by
  const now = deps.clock.now()
  if (input.amount.currency !== shop.currency) throw invalidField('amount.currency', `must be in the shop's currency, ${shop.currency}`)
  assertFuture(input.expiresAt, now)
  if (typeof input.customerId === 'string') await readCustomer(deps, shop, input.customerId)
  const code = codeOf(deps.randomBytes(codeBytes))
  const card: GiftCard = {
    id: deps.newId('giftCard'),
    shopId: shop.id,
    codeHash: await hashOf(deps, shop.id, code),
    last4: code.slice(-4),
    currency: shop.currency,
    initialAmount: input.amount.amount,
    balance: input.amount.amount,
    expiresAt: input.expiresAt ?? null,
    status: 'ACTIVE',
    customerId: input.customerId ?? null,
    note: input.note ?? null,
    ...issuedByShop,
    createdAt: now,
    updatedAt: now,
    version: 1,
  }
  return audited(deps, by, { action: 'gift_card.issued', subject: card.id }, async (tx, setDifference) => {
    // A collision of 80 random bits violates the unique index, and the retry draws again.
    await deps.giftCardStore.insert(tx, card)
    await append(tx, deps, { giftCardId: card.id, kind: 'ISSUE', amount: card.balance })
    setDifference(cardDifference(undefined, card))
    return { ...giftCardView(card, now), code }
  })
}

const issuedByShop = { orderId: null, orderLineId: null, unit: null, refundId: null }

/** The audited fields: nothing that reveals the code, and only whether there is a note. */
const cardDifference = (before: GiftCard | undefined, after: GiftCard): Difference =>
  differenceOf(before && auditedFields(before), auditedFields(after), [
    'currency',
    'initialAmount',
    'balance',
    'expiresAt',
    'status',
    'customerId',
  ])
const auditedFields = ({ codeHash: _, last4: __, ...card }: GiftCard) => card

/** An invalid time is NaN. */
function assertFuture(expiresAt: number | null | undefined, now: number): void {
  if (Number.isNaN(expiresAt)) throw invalidField('expiresAt', 'must be a valid time')
  if (expiresAt === null || expiresAt === undefined || expiresAt > now) return
  throw invalidField('expiresAt', 'must be in the future')
}

/**
 * Changes a card, but not its balance; undefined keeps a field.
 * @throws AppError INVALID; NOT_FOUND, also for another shop's; PRECONDITION_FAILED; CONFLICT to activate a
 *   refunded one, or in a live shop one of its test mode
 */
export async function changeGiftCard(
  deps: GiftCardDeps & Pick<ShopDeps, 'shopStore'>,
  by: CommandContext,
  id: string,
  change: GiftCardChange,
): Promise<GiftCardView> {
  const now = deps.clock.now()
  assertFuture(change.expiresAt, now)
  return audited(deps, by, { action: 'gift_card.changed', subject: id }, async (tx, setDifference) => {
    const before = await deps.giftCardStore.find(tx, by.shop.id, id)
    if (!before) throw noSuchCard()
    assertVersion(by.expected, before.version)
    if (change.status === 'ACTIVE' && before.refundId !== null)
      throw new AppError('CONFLICT', 'The order that sold the gift card was refunded', { code: 'invalid_transition' })
    if (change.status === 'ACTIVE' && before.createdAt <= ((await liveSince(deps, by.shop.id, tx)) ?? 0))
      throw new AppError('CONFLICT', 'The gift card was issued in test mode, so it cannot pay in a live shop. Issue a new one', {
        code: 'invalid_transition',
      })
    const changes = { ...change, updatedAt: now, version: before.version + 1 }
    const card = assertNotStale(await deps.giftCardStore.change(tx, before, changes))
    setDifference(cardDifference(before, card))
    return giftCardView(card, now)
  })
}

/**
 * Reads a card.
 * @throws AppError NOT_FOUND, also for another shop's
 */
export async function readGiftCard({ giftCardStore, clock }: GiftCardDeps, shopId: string, id: string): Promise<GiftCardView> {
  const [card] = await giftCardStore.findAll([id])
  if (card?.shopId !== shopId) throw noSuchCard()
  return giftCardView(card, clock.now())
}

/** Movements shown with a card. */
const transactionsShown = 200

/**
 * Reads a card with its movements, newest first.
 * @throws AppError NOT_FOUND, also for another shop's
 */
export async function readGiftCardWhole(deps: GiftCardDeps, shopId: string, id: string) {
  const card = await readGiftCard(deps, shopId, id)
  const rows = await deps.giftCardStore.transactions(id, transactionsShown + 1)
  const transactions = rows.slice(0, transactionsShown).map(({ amount, at, ...row }) => ({
    ...pick(row, 'id', 'kind'),
    amount: { amount, currency: card.currency },
    ...pick(row, 'orderId', 'refundId'),
    ...isoTimes({ at }),
  }))
  return { ...card, transactions, ...(rows.length > transactionsShown ? { transactionsCapped: true as const } : {}) }
}

/** Lists the shop's cards, or those of one customer, newest first. */
export async function listGiftCards(
  { giftCardStore, clock }: GiftCardDeps,
  filter: { readonly shopId: string; readonly customerId?: string | undefined },
  slice: PageSlice,
): Promise<Page<GiftCardView>> {
  const { rows: cards, total } = await giftCardStore.list(filter, slice)
  const now = clock.now()
  return pageOf(
    cards.map((card) => giftCardView(card, now)),
    total,
    slice,
  )
}

/** Reads cards in the order of their ids; unknown ids are skipped. */
export const giftCardsByIds = ({ giftCardStore }: Pick<GiftCardDeps, 'giftCardStore'>, ids: readonly string[]): Promise<GiftCard[]> =>
  giftCardStore.findAll(ids)

type CardOnCart = {
  shopId: string
  /** As typed. */
  code: string
  currency: string
  /** The customer of the cart. */
  customerId: string | undefined
}

/**
 * Finds the card of a code that can pay for such a cart: active, not expired, with a balance in its currency, not
 * another customer's.
 */
export async function findUsableCard(deps: GiftCardDeps, { shopId, code, ...cart }: CardOnCart): Promise<GiftCard | undefined> {
  const card = await deps.giftCardStore.findByHash(shopId, await hashOf(deps, shopId, code))
  return card && isUsable(card, deps.clock.now()) && fitsCart(card, cart) ? card : undefined
}

/**
 * Finds the card of a code that a shopper typed. Every refusal does the same work and reads the same.
 * @throws AppError NOT_FOUND for every cause, RATE_LIMITED
 */
export async function tryCode(deps: GiftCardDeps & AuthDeps, card: CardOnCart & CodeCaller): Promise<GiftCard> {
  const found = await findByCode(deps, cardTries, card, () => findUsableCard(deps, card))
  if (!found) throw noSuchCard()
  return found
}

type Movement = Pick<GiftCardTransaction, 'giftCardId' | 'kind' | 'amount'> & Partial<Pick<GiftCardTransaction, 'orderId' | 'refundId'>>

/** Appends a movement to the ledger. */
const append = (tx: Writer, { giftCardStore, newId, clock }: GiftCardDeps, movement: Movement): Promise<void> =>
  giftCardStore.append(tx, { orderId: null, refundId: null, ...movement, id: newId('giftCardTransaction'), at: clock.now() })

type Amount = Pick<Draw, 'giftCardId' | 'amount'>

/** In order of their ids, so that concurrent writes do not deadlock. */
const inOrder = <One extends Amount>(amounts: readonly One[]): One[] => [...amounts].sort((a, b) => (a.giftCardId < b.giftCardId ? -1 : 1))

/** @throws Error unless positive: another sign would turn a hold into a gift */
function assertAmount(amount: number): void {
  if (!Number.isSafeInteger(amount) || amount <= 0) throw new Error('an amount of a gift card must be a positive integer')
}

/**
 * Takes each card's part of an order, inside the order's write.
 * @throws AppError CONFLICT when a card does not cover its part; the write must then fail
 */
export async function holdGiftCards(
  tx: Writer,
  deps: GiftCardDeps,
  { orderId, draws }: { orderId: string; draws: readonly Draw[] },
): Promise<void> {
  for (const { giftCardId, last4, amount } of inOrder(draws)) {
    assertAmount(amount)
    if (!(await deps.giftCardStore.take(tx, giftCardId, amount, deps.clock.now())))
      throw new AppError('CONFLICT', `The gift card that ends in ${last4} no longer covers its share of the cart. Read the cart again`, {
        code: 'gift_card_unavailable',
      })
    await append(tx, deps, { giftCardId, kind: 'HOLD', amount: -amount, orderId })
  }
}

/** Returns what an order held, whatever the card's status. The caller calls it once. */
export const releaseGiftCards = (
  tx: Writer,
  deps: GiftCardDeps,
  { orderId, draws }: { orderId: string; draws: readonly Amount[] },
): Promise<void> => giveBack(tx, deps, draws, { kind: 'RELEASE', orderId })

/** Returns the refunded amounts to the cards, whatever their status. */
export const refundGiftCards = (
  tx: Writer,
  deps: GiftCardDeps,
  { orderId, refundId, amounts }: { orderId: string; refundId: string; amounts: readonly Amount[] },
): Promise<void> => giveBack(tx, deps, amounts, { kind: 'REFUND', orderId, refundId })

async function giveBack(
  tx: Writer,
  deps: GiftCardDeps,
  amounts: readonly Amount[],
  why: Pick<Movement, 'kind' | 'orderId' | 'refundId'>,
): Promise<void> {
  for (const { giftCardId, amount } of inOrder(amounts)) {
    assertAmount(amount)
    // A balance above the initial amount is a bug, and a retry does not help.
    if (!(await deps.giftCardStore.giveBack(tx, giftCardId, amount, deps.clock.now())))
      throw new Error('a gift card does not exist, or would exceed its initial amount')
    await append(tx, deps, { ...why, giftCardId, amount })
  }
}

/**
 * Disables all cards of a shop, inside the write that takes it live.
 * @returns how many were usable
 */
export const disableGiftCards = (tx: Writer, { giftCardStore, clock }: GiftCardDeps, shopId: string): Promise<number> =>
  giftCardStore.disableAll(tx, shopId, clock.now())
