import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { openObject } from '../../../http/schema.ts'
import { addressFields, buyerFields, codesMax, destinationsMax, sentLinesMax } from './domain.ts'

const words = (maxLength: number) => t.Optional(t.String({ maxLength }))
const wordsOf = (lengths: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(lengths).map(([name, maxLength]) => [name, words(maxLength)]))
const nullableWords = (maxLength: number) => t.Optional(t.Union([t.String({ maxLength }), t.Null()]))

const idMax = 255
const LineItems = t.Array(
  openObject({
    item: openObject({ id: t.String({ minLength: 1, maxLength: idMax, description: 'Id of a variant' }) }),
    // Not `t.Integer` of Elysia, which takes digits in a string.
    quantity: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  }),
  { maxItems: sentLinesMax },
)
const Destination = openObject({ id: words(idMax), ...wordsOf(addressFields) })
const Fulfillment = openObject({
  methods: t.Optional(
    t.Array(
      openObject({
        type: words(50),
        destinations: t.Optional(t.Array(Destination, { maxItems: destinationsMax })),
        selected_destination_id: nullableWords(idMax),
        groups: t.Optional(t.Array(openObject({ selected_option_id: nullableWords(idMax) }), { maxItems: 20 })),
      }),
      { maxItems: 20 },
    ),
  ),
})
const Discounts = openObject({ codes: t.Optional(t.Array(t.String({ maxLength: 64 }), { maxItems: codesMax })) })
const shared = {
  buyer: t.Optional(openObject(wordsOf(buyerFields))),
  discounts: t.Optional(Discounts),
  attribution: t.Optional(t.Record(t.String({ maxLength: 100 }), t.String({ maxLength: 500 }), { maxProperties: 20 })),
}

export const CreateCheckout = openObject({
  line_items: t.Optional(LineItems),
  ...shared,
  fulfillment: t.Optional(Fulfillment),
  cart_id: t.Optional(t.String({ maxLength: idMax, description: 'Cart to convert. Its contents replace those of the request' })),
})
export const UpdateCheckout = openObject({ line_items: LineItems, ...shared, fulfillment: t.Optional(Fulfillment) })
const Credential = openObject({ type: t.Optional(t.String({ maxLength: 100 })), token: t.Optional(t.String({ maxLength: 16_384 })) })
const Instrument = openObject({
  id: words(idMax),
  handler_id: t.String({ minLength: 1, maxLength: idMax, description: 'Id of a payment handler of the last answer' }),
  type: words(100),
  selected: t.Optional(t.Boolean({ description: 'Exactly one instrument is selected' })),
  credential: t.Optional(Credential),
})
export const CompleteCheckout = openObject({ payment: openObject({ instruments: t.Optional(t.Array(Instrument, { maxItems: 20 })) }) })
export const AgentCartBody = openObject({ line_items: LineItems, ...shared })
