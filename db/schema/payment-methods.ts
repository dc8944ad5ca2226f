import { type CardProcessor, cardProcessors, processorNames } from '../../src/lib/processors.ts'
import { enumText, index, instant, int, json, reference, table, text } from '../columns.ts'
import { shops } from './shop.ts'

/** Payment methods that a shop chose; a missing field is decided elsewhere. */
type ChosenMethods = {
  card?: { enabled: boolean; processor?: CardProcessor; publishableKey?: string }
  paypal?: { enabled: boolean; clientId?: string }
  crypto?: { enabled: boolean }
  wallet?: { enabled: boolean; tokenProvider?: CardProcessor; merchantIdentifier?: string }
  /** Paid outside souk: bank transfer, cash on delivery. */
  manual?: { code: string; title: string; instructions: string; expiresAfterDays: number }[]
}

/** One row per shop with a choice. */
export const paymentMethods = table('payment_methods', {
  shopId: reference('shop_id', () => shops.id).primaryKey(),
  methods: json<ChosenMethods>('methods').notNull(),
  updatedAt: instant('updated_at').notNull(),
  version: int('version').notNull(),
})

/** Shops for which an operator chose the default card processor. */
export const partnerships = table('partnerships', {
  name: text('name').primaryKey(),
  defaultCardProcessor: enumText('default_card_processor', cardProcessors).notNull(),
  /** Order from 0. */
  position: int('position').notNull(),
})

/** Shops of the partnerships. A shop is in one at most. */
export const partnershipShops = table(
  'partnership_shops',
  {
    shopId: reference('shop_id', () => shops.id).primaryKey(),
    partnership: reference('partnership', () => partnerships.name),
    /** Order from 0 within the partnership. */
    position: int('position').notNull(),
  },
  (shop) => [index('partnership_shops_partnership').on(shop.partnership)],
)

/** Version of the list for `If-Match`, because it is changed as a whole. One row, `all`. */
export const partnershipLists = table('partnership_lists', {
  id: enumText('id', ['all']).primaryKey(),
  version: int('version').notNull(),
})

/** Processors that an operator disabled in every process. */
export const processorIsolations = table('processor_isolations', {
  processor: enumText('processor', processorNames).primaryKey(),
  isolatedAt: instant('isolated_at').notNull(),
  /** Id of the person. */
  actor: text('actor').notNull(),
})
