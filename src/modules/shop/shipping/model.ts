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
          provinces: t.Array(Province, { description: 'ISO 3166-2 codes without the country. Empty if the country has none' }),
        },
        { title: 'ServedCountry' },
      ),
    ),
  },
  { title: 'ServedCountries' },
)
