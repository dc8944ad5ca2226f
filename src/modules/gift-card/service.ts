import type { Reader, Writer } from '../../../db/engine.ts'
import type { Deps } from '../../core/deps.ts'
import { AppError } from '../../core/errors.ts'
import type { Keep } from '../../core/idempotency.ts'
import type { ShopContext } from '../../core/principal.ts'
import type { Money } from '../../lib/money.ts'
import { type Page, pageOf, type Slice } from '../../lib/page.ts'
import { type Actor, audit } from '../audit/service.ts'
import { type AuthDeps, countFailure } from '../auth/service.ts'
import { type CustomerDeps, readCustomer } from '../customer/service.ts'
import type { InstanceKeys } from '../instance-key/service.ts'
import {
  codeBytes,
  codeHashOf,
  codeOf,
  type Draw,
  fitsCart,
  type GiftCard,
  type GiftCardView,
  giftCardView,
  isUsable,
  triesByAddress,
  triesByCart,
  triesByCustomer,
} from './domain.ts'
import type { GiftCardChange, GiftCardStore, GiftCardTransaction } from './store.ts'

export type GiftCardDeps = Deps & { readonly giftCardStore: GiftCardStore; readonly instanceKeys: InstanceKeys }
/** Who does it, in which shop, and what keeps the answer of an idempotent request. */
type Write = { shop: Pick<ShopContext, 'id' | 'currency'>; actor: Actor; keep?: Keep }

/** A card to issue; what is undefined is null. */
export type NewGiftCard = {
  amount: Money
  /** Milliseconds. */
  expiresAt?: number | null | undefined
  customerId?: string | null | undefined
  note?: string | null | undefined
}
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
  deps: GiftCardDeps & CustomerDeps,
  { shop, actor, keep }: Write,
  input: NewGiftCard,
): Promise<IssuedGiftCard> {
  const now = deps.clock.now()
  if (input.amount.currency !== shop.currency)
    throw new AppError('INVALID', `amount.currency (body): gift cards are in the shop's currency, ${shop.currency}`)
  assertFuture(input.expiresAt, now)
  if (typeof input.customerId === 'string') await readCustomer(deps, shop, input.customerId)
  const code = codeOf(deps.randomBytes(codeBytes))
  const card = issuedCard(input, { id: deps.newId('giftCard'), shopId: shop.id, code, codeHash: await hashOf(deps, shop.id, code), now })
  const opening = entry(deps, { giftCardId: card.id, kind: 'ISSUE', amount: card.balance })
  const record = audit(deps, actor, { action: 'gift_card.issued', subject: card.id, shopId: shop.id })
  const view = { ...giftCardView(card, now), code }
  await deps.db.write(async (tx) => {
    // Of 80 random bits none is drawn twice; were it, the unique index refuses, and the next try draws anew.
    await deps.giftCardStore.insert(tx, card)
    await deps.giftCardStore.append(tx, opening)
    await record(tx)
    await keep?.(tx, view)
  })
  return view
}

function issuedCard(
  { amount, expiresAt, customerId, note }: NewGiftCard,
  { id, shopId, code, codeHash, now }: { id: string; shopId: string; code: string; codeHash: string; now: number },
): GiftCard {
  return {
    id,
    shopId,
    codeHash,
    last4: code.slice(-4),
    currency: amount.currency,
    initialAmount: amount.amount,
    balance: amount.amount,
    expiresAt: expiresAt ?? null,
    status: 'ACTIVE',
    customerId: customerId ?? null,
    note: note ?? null,
    createdAt: now,
    updatedAt: now,
  }
}

/** An hour that the clock lacks is NaN. */
function assertFuture(expiresAt: number | null | undefined, now: number): void {
  if (expiresAt === null || expiresAt === undefined || expiresAt > now) return
  throw new AppError('INVALID', 'expiresAt (body): a moment in the future')
}

/**
 * Changes a card; what `change` leaves undefined stays. The balance is no business of this.
 * @throws AppError INVALID, NOT_FOUND (also for another shop's)
 */
export async function changeGiftCard(
  deps: GiftCardDeps,
  { shop, actor, keep }: Omit<Write, 'shop'> & { shop: Pick<ShopContext, 'id'> },
  id: string,
  change: GiftCardChange,
): Promise<GiftCardView> {
  const now = deps.clock.now()
  assertFuture(change.expiresAt, now)
  const record = audit(deps, actor, { action: 'gift_card.changed', subject: id, shopId: shop.id })
  return deps.db.write(async (tx) => {
    const card = await deps.giftCardStore.change(tx, shop.id, id, { ...change, updatedAt: now })
    if (!card) throw noSuchCard()
    await record(tx)
    const view = giftCardView(card, now)
    await keep?.(tx, view)
    return view
  })
}

/** The shop's cards, newest first. */
export async function listGiftCards({ giftCardStore, clock }: GiftCardDeps, shopId: string, slice: Slice): Promise<Page<GiftCardView>> {
  const { cards, total } = await giftCardStore.list(shopId, slice)
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
 * The same for a shopper who types a code. A try is counted before the look-up and taken back when it found a card; whatever
 * the cause of a refusal, it does the same work and reads the same.
 * @param address what the caller is limited by; undefined for a secret key, behind which all of a shop's shoppers come from one
 * @throws AppError NOT_FOUND for every cause, RATE_LIMITED
 */
export async function tryCode(
  deps: GiftCardDeps & AuthDeps,
  { cartId, address, ...card }: CardOnCart & { cartId: string; address: string | undefined },
): Promise<GiftCard> {
  const { customerId } = card
  const found = await countFailure(
    deps,
    [
      [triesByCart, cartId],
      ...(customerId === undefined ? [] : ([[triesByCustomer, customerId]] as const)),
      ...(address === undefined ? [] : ([[triesByAddress, address]] as const)),
    ],
    () => findUsableCard(deps, card),
  )
  if (!found) throw noSuchCard()
  return found
}

type Movement = Pick<GiftCardTransaction, 'giftCardId' | 'kind' | 'amount'> & Partial<Pick<GiftCardTransaction, 'orderId' | 'refundId'>>

/** A line of the ledger; its id and its time are fixed now, because a work may run more than once. */
const entry = ({ newId, clock }: GiftCardDeps, movement: Movement): GiftCardTransaction => ({
  orderId: null,
  refundId: null,
  ...movement,
  id: newId('giftCardTransaction'),
  at: clock.now(),
})

type Amount = Pick<Draw, 'giftCardId' | 'amount'>

/** In the order of the cards' ids, so that writes which meet on several of them do not wait for each other in a ring. */
const inOrder = <One extends Amount>(amounts: readonly One[]): One[] => [...amounts].sort((a, b) => (a.giftCardId < b.giftCardId ? -1 : 1))

/** @throws Error for what no ledger holds: another sign would turn a hold into a present */
function assertAmount(amount: number): void {
  if (!Number.isSafeInteger(amount) || amount <= 0) throw new Error('a gift card moves whole amounts above zero')
}

/**
 * Prepares taking from each card what it pays of an order; call what it returns inside the order's write.
 * @returns throws AppError CONFLICT when a card does not cover its part, and then the write must not go on
 */
export function prepareHolds(
  deps: GiftCardDeps,
  { orderId, draws }: { orderId: string; draws: readonly Draw[] },
): (tx: Writer) => Promise<void> {
  const holds = inOrder(draws).map(({ giftCardId, last4, amount }) => {
    assertAmount(amount)
    return { last4, amount, row: entry(deps, { giftCardId, kind: 'HOLD', amount: -amount, orderId }) }
  })
  return async (tx) => {
    for (const { last4, amount, row } of holds) {
      if (!(await deps.giftCardStore.take(tx, row.giftCardId, amount, row.at)))
        throw new AppError('CONFLICT', `A gift card no longer covers what it was to pay: the one that ends in ${last4}`)
      await deps.giftCardStore.append(tx, row)
    }
  }
}

/** Prepares giving back what an order held, whatever has become of the card; the caller sees to it that this happens once. */
export const prepareRelease = (
  deps: GiftCardDeps,
  { orderId, draws }: { orderId: string; draws: readonly Amount[] },
): ((tx: Writer) => Promise<void>) => prepareReturn(deps, draws, { kind: 'RELEASE', orderId })

/** Prepares giving back what a refund returns to each card, whatever has become of it. */
export const prepareGiftCardRefund = (
  deps: GiftCardDeps,
  { orderId, refundId, amounts }: { orderId: string; refundId: string; amounts: readonly Amount[] },
): ((tx: Writer) => Promise<void>) => prepareReturn(deps, amounts, { kind: 'REFUND', orderId, refundId })

function prepareReturn(
  deps: GiftCardDeps,
  amounts: readonly Amount[],
  why: Pick<Movement, 'kind' | 'orderId' | 'refundId'>,
): (tx: Writer) => Promise<void> {
  const rows = inOrder(amounts).map(({ giftCardId, amount }) => {
    assertAmount(amount)
    return entry(deps, { ...why, giftCardId, amount })
  })
  return async (tx) => {
    for (const row of rows) {
      // More than was ever on it would be money out of nothing: a fault of ours, and nobody's to repair by trying again.
      if (!(await deps.giftCardStore.giveBack(tx, row.giftCardId, row.amount, row.at)))
        throw new Error('a gift card does not exist, or would hold more than at first')
      await deps.giftCardStore.append(tx, row)
    }
  }
}
