/** Schemas of answers, for `tools/list` of MCP and the OpenAPI document, by the protocol's newest release. */
import { type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { openObject } from '../../../http/schema.ts'

const amount = Type.Integer({ description: 'In minor units of the currency' })
const Money = openObject({ amount, currency: t.String({ description: 'ISO 4217' }) })
const Messages = t.Optional(
  t.Array(
    openObject({
      type: t.String({ description: '`error`, `warning` or `info`' }),
      code: t.String(),
      content: t.String(),
      path: t.Optional(t.String({ description: 'JSONPath of the field' })),
      severity: t.Optional(t.String({ description: 'Of an error: `recoverable` can be solved with another request' })),
    }),
  ),
)
const Envelope = openObject({
  version: t.String(),
  status: t.Optional(t.String({ description: '`success`, or `error` without a resource' })),
})

/** An answer: its resource, or messages that say why there is none. */
function answerOf<Fields extends TProperties>(resource: Fields, required: readonly (keyof Fields & string)[]): TSchema {
  const optional = Object.fromEntries(Object.entries(resource).map(([name, schema]) => [name, Type.Optional(schema)]))
  return openObject({ ucp: Envelope, ...optional, messages: Messages }, { anyOf: [{ required }, { required: ['messages'] }] })
}

const Variant = openObject({
  id: t.String({ description: 'The id to buy' }),
  title: t.String(),
  price: Money,
  availability: t.Optional(openObject({ available: t.Optional(Type.Boolean()) })),
})
const Product = openObject({
  id: t.String(),
  title: t.String(),
  description: openObject({ plain: t.Optional(t.String()) }),
  price_range: openObject({ min: Money, max: Money }),
  variants: t.Array(Variant),
})

export const Products = answerOf(
  {
    products: t.Array(Product),
    pagination: openObject({
      has_next_page: Type.Boolean(),
      cursor: t.Optional(t.String({ description: 'Continues the same search' })),
      total_count: t.Optional(Type.Integer()),
    }),
  },
  ['products'],
)
export const SingleProduct = answerOf({ product: Product }, ['product'])

const totals = t.Array(openObject({ type: t.String({ description: 'The last one is `total`' }), amount }))
const commonFields = {
  id: t.String(),
  currency: t.String({ description: 'ISO 4217' }),
  line_items: t.Array(
    openObject({
      id: t.String(),
      item: openObject({ id: t.String(), title: t.String(), price: amount }),
      quantity: Type.Integer(),
      totals,
    }),
  ),
  totals,
  expires_at: t.String(),
  continue_url: t.String({ description: 'Where the shopper can go on and pay' }),
}
const requiredOfCart = ['id', 'currency', 'line_items', 'totals'] as const
export const Cart = answerOf(commonFields, requiredOfCart)
export const Checkout = answerOf(
  {
    ...commonFields,
    status: t.String({
      description:
        '`incomplete`: messages say what is missing. `requires_escalation`: the shopper pays at `continue_url`. `ready_for_complete`: complete it.',
    }),
    links: t.Array(openObject({ type: t.String(), url: t.String() })),
    order: openObject({ id: t.String(), permalink_url: t.String() }),
  },
  [...requiredOfCart, 'status', 'links'],
)

const records = t.Array(openObject({}))
export const Order = answerOf(
  {
    ...{ id: t.String(), label: t.String({ description: 'Number of the order' }), checkout_id: t.String(), permalink_url: t.String() },
    line_items: t.Array(openObject({ id: t.String(), status: t.String(), totals })),
    fulfillment: openObject({ expectations: t.Optional(records), events: t.Optional(records) }),
    ...{ adjustments: records, currency: t.String({ description: 'ISO 4217' }), totals },
  },
  ['id', 'checkout_id', 'line_items', 'totals'],
)

/** An error of the protocol. */
export const UcpErrorBody = t.Object(
  {
    code: t.String({ description: 'A stable word for programs' }),
    content: t.String(),
    continue_url: t.Optional(t.String({ description: 'Where a person can go on' })),
  },
  { title: 'UcpError' },
)

/** Messages of MCP. */
export const RpcCall = openObject({
  jsonrpc: t.Literal('2.0'),
  id: t.Optional(t.Union([t.String(), Type.Integer()], { description: 'Missing from notifications' })),
  method: t.String(),
  params: t.Optional(openObject({})),
})
export const RpcAnswer = openObject(
  {
    jsonrpc: t.Literal('2.0'),
    id: t.Union([t.String(), Type.Integer(), t.Null()]),
    result: t.Optional(openObject({})),
    error: t.Optional(openObject({ code: Type.Integer(), message: t.String(), data: t.Optional(openObject({})) })),
  },
  { title: 'RpcAnswer' },
)
