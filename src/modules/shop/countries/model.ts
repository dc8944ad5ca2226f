import { t } from 'elysia'
import { nullable } from '../../../http/schema.ts'

export const Countries = t.Object({
  data: t.Array(
    t.Object(
      {
        code: t.String({ description: 'ISO 3166-1 alpha-2' }),
        code3: t.String({ description: 'ISO 3166-1 alpha-3' }),
        name: t.String(),
        currency: nullable(t.String({ description: 'ISO 4217. Null if there is none' })),
        callingCode: nullable(t.String()),
        region: t.String(),
      },
      { title: 'Country' },
    ),
  ),
})
