import type { Schema } from '../../lib/api/api.ts'
import { number } from '../../lib/format/format.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { ImportCsv } from '../../ui/import-csv/index.tsx'
import { Page } from '../../ui/page.tsx'
import { t } from './i18n.ts'

export default function ImportCustomers() {
  return (
    <Page title={t('importTitle')} back={{ href: shopPath('customers'), text: t('title') }}>
      <ImportCsv<Schema<'ImportCustomersReport'>>
        path="/customer/import"
        kind="customers"
        hint={t('importHint')}
        options={[{ name: 'overwrite', label: t('overwrite'), hint: t('overwriteHint') }]}
        facts={({ addresses }) => [[t('importedAddresses'), number(addresses)]]}
      />
    </Page>
  )
}
