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
      detail: { summary: "The shop's gift cards", description: 'Newest first, whatever their status. No code is ever shown again.' },
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
          summary: 'Issue a gift card',
          description:
            "In the shop's currency. The answer holds the `code`, this once: only a replay under the same `Idempotency-Key` shows it again, for a day. A `customerId` that the shop does not have is 404.",
        },
      },
    )
    .get('/giftcard/:id', ({ params, shop }) => readGiftCardWhole(deps, shop.id, params.id), {
      access: 'management',
      versioned: true,
      params: RecordId,
      response: { 200: GiftCardWithTransactions, ...errorResponses(401, 403, 404) },
      detail: {
        summary: 'A gift card of the shop',
        description:
          'With what moved its balance, newest first: the newest 200, and `transactionsCapped` where there were more. No code is ever shown again. What orders take and give back changes no version.',
      },
    })
    .patch(
      '/giftcard/:id',
      ({ params, body, shop, actor, expected, once }) =>
        once(200, (write) => changeGiftCard(deps, { shop, actor, expected, write }, params.id, expiryInMs(body)), {
          sees: () => readGiftCard(deps, shop.id, params.id),
        }),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        params: RecordId,
        body: ChangeGiftCard,
        response: { 200: GiftCardRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Change a gift card',
          description:
            'Fields that are left out stay as they are. DISABLED takes a card out of use at once; ACTIVE puts it back, and a new `expiresAt` does so for one that has expired. Orders keep what they took from it before, and what they give back goes onto the card whatever its status. Amounts never change by hand.',
        },
      },
    )
