import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, RecordId } from '../../../http/schema.ts'
import { parseInstant } from '../../../lib/instant.ts'
import { sliceOf } from '../../../lib/page.ts'
import { type CardIssuingDeps, changeGiftCard, issueGiftCard, listGiftCards, readGiftCard, readGiftCardWhole } from './index.ts'
import {
  ChangeGiftCard,
  type GiftCardFilter,
  GiftCardRecord,
  GiftCards,
  GiftCardsQuery,
  GiftCardWithTransactions,
  IssuedGiftCardRecord,
  IssueGiftCard,
} from './model.ts'

/** Returns the body with its expiry in milliseconds. */
const expiryInMs = <Body extends { expiresAt?: string | null }>({ expiresAt, ...rest }: Body) => ({
  ...rest,
  expiresAt: typeof expiresAt === 'string' ? parseInstant(expiresAt) : expiresAt,
})

export const giftCardRoutes = (deps: HttpDeps & CardIssuingDeps) =>
  routes(deps, 'Gift cards')
    .get('/giftcard', ({ query, shop }) => listGiftCards(deps, { shopId: shop.id, ...query }, sliceOf(query)), {
      access: 'management',
      query: GiftCardsQuery,
      csv: csvOf<typeof GiftCards, GiftCardFilter>('gift-cards', GiftCards, ({ shop, query }, slice) =>
        listGiftCards(deps, { shopId: shop.id, ...query }, slice),
      ),
      response: { 200: GiftCards, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'listGiftCards',
        summary: 'Lists gift cards',
        description: 'Returns gift cards of every status, newest first, without their codes.',
      },
    })
    .post(
      '/giftcard',
      ({ body, shop, actor, once }) => once(201, (write) => issueGiftCard(deps, { shop, actor, write }, expiryInMs(body))),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        body: IssueGiftCard,
        response: { 201: IssuedGiftCardRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'createGiftCard',
          summary: 'Creates a gift card',
          description:
            "The card is in the shop's currency. The response contains the `code` only once; for a day, a replay with the same `Idempotency-Key` returns it again. An unknown `customerId` is 404.",
        },
      },
    )
    .get('/giftcard/:id', ({ params, shop }) => readGiftCardWhole(deps, shop.id, params.id), {
      access: 'management',
      versioned: true,
      params: RecordId,
      response: { 200: GiftCardWithTransactions, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'getGiftCard',
        summary: 'Returns a gift card',
        description:
          'Includes the newest 200 transactions, newest first; `transactionsCapped` says if there are more. The code is not returned. Transactions of orders do not change the version.',
      },
    })
    .patch(
      '/giftcard/:id',
      ({ params, body, shop, actor, expected, once }) =>
        once(200, (write) => changeGiftCard(deps, { shop, actor, expected, write }, params.id, expiryInMs(body)), {
          assertVisible: () => readGiftCard(deps, shop.id, params.id),
        }),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        params: RecordId,
        body: ChangeGiftCard,
        response: { 200: GiftCardRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'updateGiftCard',
          summary: 'Updates a gift card',
          description:
            'Fields that you leave out keep their values. DISABLED stops the card at once; ACTIVE restores it. To restore an expired card, set a new `expiresAt`. Orders keep what they used, and refunds go back to the card whatever its status. The balance cannot be edited. A card that a refund of its order disabled stays disabled (409), and so does a card of the test mode after the shop went live.',
        },
      },
    )
