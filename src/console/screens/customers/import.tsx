import type { Schema } from '../../lib/api/api.ts'
import { number } from '../../lib/format/format.ts'
import { at } from '../../lib/session/current-shop.ts'
import { ImportCsv } from '../../ui/import-csv/index.tsx'
import { Page } from '../../ui/page.tsx'
import { w } from './i18n.ts'

export default function ImportCustomers() {
  return (
    <Page title={w('importTitle')} back={{ href: at('customers'), text: w('title') }}>
      <ImportCsv<Schema<'ImportCustomersReport'>>
        path="/customer/import"
        kind="customers"
        hint={w('importHint')}
        options={[{ name: 'overwrite', label: w('overwrite'), hint: w('overwriteHint') }]}
        facts={({ addresses }) => [[w('importedAddresses'), number(addresses)]]}
      />
    </Page>
  )
}
