import type { Schema } from '../../lib/api/api.ts'
import { number } from '../../lib/format/format.ts'
import { at } from '../../lib/session/current-shop.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { ImportCsv } from '../../ui/import-csv/index.tsx'
import { Page } from '../../ui/page.tsx'
import { w } from './i18n.ts'

type Report = Schema<'ImportReport'>

/** What came of an import beside its counts, or would. */
function factsOf({ products, variants, images, variantsKept, stock }: Report): readonly (readonly [string, string])[] {
  return [
    [w('products'), number(products)],
    [w('variantsCount'), number(variants)],
    [w('picturesCount'), number(images)],
    ...(variantsKept > 0 ? [[w('variantsKept'), number(variantsKept)] as const] : []),
    ...(stock.set ? [[w('stockCounts'), number(stock.counts)] as const] : []),
    ...(stock.leftAlone > 0 ? [[w('stockLeft'), number(stock.leftAlone)] as const] : []),
  ]
}

/** Brings products in by a CSV of Shopify or WooCommerce. */
export default function ImportProducts() {
  return (
    <Page
      title={w('importTitle')}
      back={{ href: at('products'), text: w('toAll') }}
      actions={<ButtonLink href={at('products')}>{w('toProducts')}</ButtonLink>}
    >
      <ImportCsv<Report>
        path="/product-v2/import"
        kind="products"
        hint={w('importText')}
        options={[
          { name: 'overwrite', label: w('overwrite'), hint: w('overwriteHint') },
          { name: 'stock', label: w('setStock'), hint: w('setStockHint'), beside: 'overwrite' },
        ]}
        facts={factsOf}
      />
    </Page>
  )
}
