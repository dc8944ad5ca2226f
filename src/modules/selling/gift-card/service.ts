import type { Reader, Writer } from '../../../../db/engine.ts'
import type { Change } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { assertExpected, unlessStale } from '../../../core/versions.ts'
import type { Money } from '../../../lib/money.ts'
import { isoTimes, type Optional, pick } from '../../../lib/objects.ts'
import { type Page, pageOf, type Slice } from '../../../lib/page.ts'
import { type CustomerDeps, readCustomer } from '../../customers/customer/index.ts'
import { type AuthDeps, type CodeCaller, findByCode as tryingCode } from '../../identity/auth/index.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
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

/** A card may be a customer's, who must be there. */
export type CardIssuingDeps = GiftCardDeps & CustomerDeps

/** A card to issue; what is undefined is null. */
export type NewGiftCard = { amount: Money } & Optional<Pick<GiftCard, 'expiresAt' | 'customerId' | 'note'>>
/** The one answer that holds a code. */
export type IssuedGiftCard = GiftCardView & { code: string }

/** For every cause alike: somebody who guesses codes must not learn which of them exist. */
const noSuchCard = () => new AppError('NOT_FOUND', 'No such gift card')

const hashOf = async ({ instanceKeys }: GiftCardDeps, shopId: string, code: string): Promise<string> =>
  codeHashOf(await instanceKeys.of('GIFT_CARD_CODES'), shopId, code)

/**
 * Issues a card with a code of its own, which is in the answer and nowhere else.
 * @throws AppError INVALID, naming the field; NOT_FOUND for a customer that the shop does not have
 */
export async function issueGiftCard(
  deps: CardIssuingDeps,
  by: Change<Pick<ShopContext, 'id' | 'currency' | 'mode'>>,
  input: NewGiftCard,
): Promise<IssuedGiftCard> {
  const { shop } = by
  const now = deps.clock.now()
  if (input.amount.currency !== shop.currency)
    throw new AppError('INVALID', `amount.currency (body): gift cards are in the shop's currency, ${shop.currency}`)
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
    createdAt: now,
    updatedAt: now,
    version: 1,
  }
  return audited(deps, by, { action: 'gift_card.issued', subject: card.id }, async (tx, tell) => {
    // Of 80 random bits none is drawn twice; were it, the unique index refuses, and the next try draws anew.
    await deps.giftCardStore.insert(tx, card)
    await append(tx, deps, { giftCardId: card.id, kind: 'ISSUE', amount: card.balance })
    tell(cardDifference(undefined, card))
    return { ...giftCardView(card, now), code }
  })
}

/** What of a card is on record: nothing that a code could be told from, and of the note that there is one. */
const cardDifference = (before: GiftCard | undefined, after: GiftCard): Difference =>
  differenceOf(before && kept(before), kept(after), ['currency', 'initialAmount', 'balance', 'expiresAt', 'status', 'customerId'])
const kept = ({ codeHash: _, last4: __, ...card }: GiftCard) => card

/** An hour that the clock lacks is NaN. */
function assertFuture(expiresAt: number | null | undefined, now: number): void {
  if (expiresAt === null || expiresAt === undefined || expiresAt > now) return
  throw new AppError('INVALID', 'expiresAt (body): a moment in the future')
}

/**
 * Changes a card; what `change` leaves undefined stays. The balance is no business of this.
 * @throws AppError INVALID, NOT_FOUND (also for another shop's), PRECONDITION_FAILED
 */
export async function changeGiftCard(deps: GiftCardDeps, by: Change, id: string, change: GiftCardChange): Promise<GiftCardView> {
  const now = deps.clock.now()
  assertFuture(change.expiresAt, now)
  return audited(deps, by, { action: 'gift_card.changed', subject: id }, async (tx, tell) => {
    const before = await deps.giftCardStore.find(tx, by.shop.id, id)
    if (!before) throw noSuchCard()
    assertExpected(by.expected, before.version)
    const changes = { ...change, updatedAt: now, version: before.version + 1 }
    const card = unlessStale(await deps.giftCardStore.change(tx, before, changes))
    tell(cardDifference(before, card))
    return giftCardView(card, now)
  })
}

/** A card of the shop. @throws AppError NOT_FOUND, also for another shop's */
export async function readGiftCard({ giftCardStore, clock }: GiftCardDeps, shopId: string, id: string): Promise<GiftCardView> {
  const [card] = await giftCardStore.findAll([id])
  if (card?.shopId !== shopId) throw noSuchCard()
  return giftCardView(card, clock.now())
}

/** So many of a card's movements are told with it. */
const transactionsTold = 200

/** The same with what moved its balance, newest first. @throws AppError NOT_FOUND, also for another shop's */
export async function readGiftCardWhole(deps: GiftCardDeps, shopId: string, id: string) {
  const card = await readGiftCard(deps, shopId, id)
  const rows = await deps.giftCardStore.transactions(id, transactionsTold + 1)
  const transactions = rows.slice(0, transactionsTold).map(({ amount, at, ...row }) => ({
    ...pick(row, 'id', 'kind'),
    amount: { amount, currency: card.currency },
    ...pick(row, 'orderId', 'refundId'),
    ...isoTimes({ at }),
  }))
  return { ...card, transactions, ...(rows.length > transactionsTold ? { transactionsCapped: true as const } : {}) }
}

/** The shop's cards, or those that only this customer may use; newest first. */
export async function listGiftCards(
  { giftCardStore, clock }: GiftCardDeps,
  asked: { readonly shopId: string; readonly customerId?: string | undefined },
  slice: Slice,
): Promise<Page<GiftCardView>> {
  const { rows: cards, total } = await giftCardStore.list(asked, slice)
  const now = clock.now()
  return pageOf(
    cards.map((card) => giftCardView(card, now)),
    total,
    slice,
  )
}

/** Cards by their ids, in the order of those; ids that no card has are passed over. */
export const giftCardsByIds = (
  { giftCardStore }: Pick<GiftCardDeps, 'giftCardStore'>,
  ids: readonly string[],
  from?: Pick<Reader, 'select'>,
): Promise<GiftCard[]> => giftCardStore.findAll(ids, from)

export type CardOnCart = {
  shopId: string
  /** As it was typed. */
  code: string
  currency: string
  /** Whose cart it is. */
  customerId: string | undefined
}

/** The card of a code, if it can pay for such a cart: active, not expired, with a balance in its currency, not another customer's. */
export async function findUsableCard(deps: GiftCardDeps, { shopId, code, ...cart }: CardOnCart): Promise<GiftCard | undefined> {
  const card = await deps.giftCardStore.findByHash(shopId, await hashOf(deps, shopId, code))
  return card && isUsable(card, deps.clock.now()) && fitsCart(card, cart) ? card : undefined
}

/**
 * The same for a shopper who types a code. Whatever the cause of a refusal, it does the same work and reads the same.
 * @throws AppError NOT_FOUND for every cause, RATE_LIMITED
 */
export async function tryCode(deps: GiftCardDeps & AuthDeps, card: CardOnCart & CodeCaller): Promise<GiftCard> {
  const found = await tryingCode(deps, cardTries, card, () => findUsableCard(deps, card))
  if (!found) throw noSuchCard()
  return found
}

type Movement = Pick<GiftCardTransaction, 'giftCardId' | 'kind' | 'amount'> & Partial<Pick<GiftCardTransaction, 'orderId' | 'refundId'>>

/** Writes a line of the ledger. */
const append = (tx: Writer, { giftCardStore, newId, clock }: GiftCardDeps, movement: Movement): Promise<void> =>
  giftCardStore.append(tx, { orderId: null, refundId: null, ...movement, id: newId('giftCardTransaction'), at: clock.now() })

type Amount = Pick<Draw, 'giftCardId' | 'amount'>

/** In the order of the cards' ids, so that writes which meet on several of them do not wait for each other in a ring. */
const inOrder = <One extends Amount>(amounts: readonly One[]): One[] => [...amounts].sort((a, b) => (a.giftCardId < b.giftCardId ? -1 : 1))

/** @throws Error for what no ledger holds: another sign would turn a hold into a present */
function assertAmount(amount: number): void {
  if (!Number.isSafeInteger(amount) || amount <= 0) throw new Error('a gift card moves whole amounts above zero')
}

/**
 * Takes from each card what it pays of an order, inside the order's write.
 * @throws AppError CONFLICT when a card does not cover its part, and then the write must not go on
 */
export async function holdGiftCards(
  tx: Writer,
  deps: GiftCardDeps,
  { orderId, draws }: { orderId: string; draws: readonly Draw[] },
): Promise<void> {
  for (const { giftCardId, last4, amount } of inOrder(draws)) {
    assertAmount(amount)
    if (!(await deps.giftCardStore.take(tx, giftCardId, amount, deps.clock.now())))
      throw new AppError('CONFLICT', `A gift card no longer covers what it was to pay: the one that ends in ${last4}`)
    await append(tx, deps, { giftCardId, kind: 'HOLD', amount: -amount, orderId })
  }
}

/** Gives back what an order held, whatever has become of the card; the caller sees to it that this happens once. */
export const releaseGiftCards = (
  tx: Writer,
  deps: GiftCardDeps,
  { orderId, draws }: { orderId: string; draws: readonly Amount[] },
): Promise<void> => giveBack(tx, deps, draws, { kind: 'RELEASE', orderId })

/** Gives back what a refund returns to each card, whatever has become of it. */
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
    // More than was ever on it would be money out of nothing: a fault of ours, and nobody's to repair by trying again.
    if (!(await deps.giftCardStore.giveBack(tx, giftCardId, amount, deps.clock.now())))
      throw new Error('a gift card does not exist, or would hold more than at first')
    await append(tx, deps, { ...why, giftCardId, amount })
  }
}

/** Disables all cards of a shop, inside a write that ends whatever they were worth. @returns how many could still be used */
export const disableGiftCards = (tx: Writer, { giftCardStore, clock }: GiftCardDeps, shopId: string): Promise<number> =>
  giftCardStore.disableAll(tx, shopId, clock.now())
