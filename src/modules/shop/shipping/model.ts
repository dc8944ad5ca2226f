import { t } from 'elysia'
import { fieldsOf } from '../../../http/schema.ts'

const Province = t.Object(fieldsOf(t.String(), 'code', 'name'), { title: 'Province' })
export const ServedCountries = t.Object(
  {
    data: t.Array(
      t.Object(
        {
          code: t.String({ description: 'ISO 3166-1 alpha-2' }),
          name: t.String(),
          provinces: t.Array(Province, { description: 'By ISO 3166-2 code, without the country; empty where the country has none listed' }),
        },
        { title: 'ServedCountry' },
      ),
    ),
  },
  { title: 'ServedCountries' },
)
