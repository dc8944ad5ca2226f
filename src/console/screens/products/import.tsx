import type { Schema } from '../../lib/api/api.ts'
import { number } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { ImportCsv } from '../../ui/import-csv/index.tsx'
import { Page } from '../../ui/page.tsx'
import { t } from './i18n.ts'

type Report = Schema<'ImportReport'>

/** Returns the further counts of a report. */
function factsOf({ products, variants, images, variantsKept, stock }: Report): readonly (readonly [string, string])[] {
  return [
    [common('products'), number(products)],
    [t('variants'), number(variants)],
    [common('pictures'), number(images)],
    ...(variantsKept > 0 ? [[t('variantsKept'), number(variantsKept)] as const] : []),
    ...(stock.set ? [[t('stockCounts'), number(stock.counts)] as const] : []),
    ...(stock.leftAlone > 0 ? [[t('stockLeft'), number(stock.leftAlone)] as const] : []),
  ]
}

/** Imports products from a Shopify or WooCommerce CSV. */
export default function ImportProducts() {
  return (
    <Page
      title={t('importTitle')}
      back={{ href: shopPath('products'), text: common('products') }}
      actions={<ButtonLink href={shopPath('products')} text={t('toProducts')} />}
    >
      <ImportCsv<Report>
        path="/product-v2/import"
        kind="products"
        hint={t('importText')}
        options={[
          { name: 'overwrite', label: t('overwrite'), hint: t('overwriteHint') },
          { name: 'stock', label: t('setStock'), hint: t('setStockHint'), dependsOn: 'overwrite' },
        ]}
        facts={factsOf}
      />
    </Page>
  )
}
