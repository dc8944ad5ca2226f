import { index, instant, int, json, table, text, word } from '../columns.ts'
import { shops } from './shop.ts'

const cardProcessors = ['stripe', 'tap', 'qpay', 'checkout'] as const
type CardProcessor = (typeof cardProcessors)[number]

/** What a shop says of the ways to pay in it; one that is left out is for others to say. */
export type ChosenMethods = {
  card?: { enabled: boolean; processor?: CardProcessor; publishableKey?: string }
  paypal?: { enabled: boolean; clientId?: string }
  crypto?: { enabled: boolean }
  wallet?: { enabled: boolean; tokenProvider?: CardProcessor; merchantIdentifier?: string }
}

/** One row a shop, once it has said something. */
export const paymentMethods = table('payment_methods', {
  shopId: text('shop_id')
    .primaryKey()
    .references(() => shops.id),
  methods: json<ChosenMethods>('methods').notNull(),
  updatedAt: instant('updated_at').notNull(),
  version: int('version').notNull(),
})

/** Several shops for which an operator has chosen the card processor that they have unless they say another. */
export const partnerships = table('partnerships', {
  name: text('name').primaryKey(),
  defaultCardProcessor: word('default_card_processor', cardProcessors).notNull(),
  /** From 0, as the operator listed them. */
  position: int('position').notNull(),
})

export const partnershipShops = table(
  'partnership_shops',
  {
    shopId: text('shop_id')
      .primaryKey()
      .references(() => shops.id),
    partnership: text('partnership')
      .notNull()
      .references(() => partnerships.name),
    /** From 0 in its partnership. */
    position: int('position').notNull(),
  },
  (shop) => [index('partnership_shops_partnership').on(shop.partnership)],
)

/** What `If-Match` goes by: the list is changed as a whole. One row, `all`, once it was put. */
export const partnershipLists = table('partnership_lists', {
  id: word('id', ['all']).primaryKey(),
  version: int('version').notNull(),
})

/** Processors that an operator has taken out by hand, in every process. */
export const processorIsolations = table('processor_isolations', {
  processor: word('processor', [...cardProcessors, 'paypal', 'btcpay']).primaryKey(),
  isolatedAt: instant('isolated_at').notNull(),
  /** The id of the person who did it. */
  actor: text('actor').notNull(),
})
