import type { CommandContext } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { audited } from '../../operations/audit/index.ts'
import { removeTestSales } from '../../operations/kpi/index.ts'
import { type DiscountDeps, disableDiscounts } from '../../selling/discount/index.ts'
import { disableGiftCards, type GiftCardDeps } from '../../selling/gift-card/index.ts'
import { assertAllOrdersFinished, type OrderDeps } from '../../selling/order/index.ts'
import { approvedCohortOf, type KybDeps } from '../kyb/index.ts'
import type { Shop } from '../shop/domain.ts'
import { makeLive } from '../shop/index.ts'

export type GoLiveDeps = KybDeps & GiftCardDeps & DiscountDeps & OrderDeps

/**
 * Makes a shop take real money. One write changes its mode, keys, gift cards and discounts, and checks that no order is
 * open.
 * @param answerOf builds the response, which is stored for retries
 * @throws AppError FORBIDDEN without approved KYB; NOT_FOUND; CONFLICT if it is LIVE or an order is unfinished
 */
export const goLive = <Answer>(
  deps: GoLiveDeps,
  by: CommandContext<ShopContext>,
  answerOf: (live: { shop: Shop; publishableKey: string }) => Answer,
): Promise<Answer> =>
  audited(deps, by, { action: 'shop.went_live', subject: by.shop.id }, async (tx, setDifference) => {
    const { id, merchantId } = by.shop
    if ((await approvedCohortOf(deps, merchantId, tx)) === undefined)
      throw new AppError('FORBIDDEN', 'The KYB record of the merchant must be approved before a shop goes live', { code: 'kyb_required' })
    const { shop, publishableKey, keys } = await makeLive(tx, deps, id)
    const giftCardsDisabled = await disableGiftCards(tx, deps, id)
    const discountsDisabled = await disableDiscounts(tx, deps, id)
    await assertAllOrdersFinished(tx, deps, id)
    await removeTestSales(tx, id)
    setDifference({ before: { mode: 'TEST' }, after: { mode: 'LIVE', keys, giftCardsDisabled, discountsDisabled } })
    return answerOf({ shop, publishableKey })
  })
