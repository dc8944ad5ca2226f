import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { openObject } from '../../../http/schema.ts'

const idsMax = 50
const idLengthMax = 255
// Not `t.Integer` of Elysia, which takes digits in a string.
const amount = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

const Filters = openObject({
  categories: t.Optional(t.Array(t.String({ maxLength: 255 }), { maxItems: 10, description: 'Handles of collections' })),
  price: t.Optional(openObject({ min: t.Optional(amount), max: t.Optional(amount) })),
})

export const SearchCatalog = openObject({
  query: t.Optional(t.String({ maxLength: 500 })),
  filters: t.Optional(Filters),
  pagination: t.Optional(openObject({ cursor: t.Optional(t.String({ maxLength: 100 })), limit: t.Optional(Type.Integer({ minimum: 1 })) })),
})
export const LookupCatalog = openObject({
  ids: t.Array(t.String({ minLength: 1, maxLength: idLengthMax }), {
    minItems: 1,
    maxItems: idsMax,
    description: 'Ids of variants or products, handles or SKUs',
  }),
  filters: t.Optional(Filters),
})
export const GetProduct = openObject({
  id: t.String({ minLength: 1, maxLength: idLengthMax, description: 'Id of a product or variant, a handle or a SKU' }),
  selected: t.Optional(
    t.Array(openObject({ name: t.String({ maxLength: 255 }), label: t.String({ maxLength: 255 }) }), {
      maxItems: 10,
      description: 'Chosen option values',
    }),
  ),
  preferences: t.Optional(
    t.Array(t.String({ maxLength: 255 }), { maxItems: 10, description: 'Names of options, the most important one first' }),
  ),
})
