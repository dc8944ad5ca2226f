import { t } from 'elysia'
import { Instant, nullable, pageOf, text } from '../../../http/schema.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { proofName, type ShopHost } from './domain.ts'

export const HostRecord = t.Object(
  {
    host: t.String({ description: 'In ASCII and lower case: an international name in its `xn--` form' }),
    txtName: t.String({ description: 'The name of the TXT record that proves it' }),
    txtValue: t.String({ description: 'What the record says' }),
    verifiedAt: nullable(t.String({ ...Instant, description: 'Since when it counts; null: not yet, or not any more' })),
  },
  { title: 'ShopHost' },
)
export const HostRecords = pageOf(HostRecord)
export const AddHost = t.Object({
  host: text(253, { minLength: 1, description: 'As `shop.example.com`: no port, no address, no trailing dot' }),
})
export const HostParam = t.Object({ host: text(254) })

export const hostView = (row: ShopHost) => ({
  host: row.host,
  txtName: proofName(row.host),
  txtValue: row.proof,
  ...isoTimes(pick(row, 'verifiedAt')),
  version: row.version,
})
