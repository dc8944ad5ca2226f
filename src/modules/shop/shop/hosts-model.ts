import { t } from 'elysia'
import { Instant, nullable, pageOf, text } from '../../../http/schema.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { proofName, type ShopHost } from './domain.ts'

export const HostRecord = t.Object(
  {
    host: t.String({ description: 'In ASCII and lower case. International names are in their `xn--` form' }),
    txtName: t.String({ description: 'Name of the TXT record that proves ownership' }),
    txtValue: t.String({ description: 'Content of the TXT record' }),
    verifiedAt: nullable(t.String({ ...Instant, description: 'When the host was verified. Null: it is not verified, or no longer' })),
  },
  { title: 'ShopHost' },
)
export const HostRecords = pageOf(HostRecord)
export const AddHost = t.Object({
  host: text(253, { minLength: 1, description: 'A host name such as `shop.example.com`, without a port, IP address or trailing dot' }),
})
export const HostParam = t.Object({ host: text(254) })

/** Renders a host name with the TXT record that proves it. */
export const hostView = (row: ShopHost) => ({
  host: row.host,
  txtName: proofName(row.host),
  txtValue: row.proof,
  ...isoTimes(pick(row, 'verifiedAt')),
  version: row.version,
})
