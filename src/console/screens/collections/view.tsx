import { useSignal } from '@preact/signals'
import type { Schema } from '../../lib/api/api.ts'
import { common } from '../../lib/i18n/common.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { HtmlPreview } from '../../ui/html-preview.tsx'
import { Section } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { t } from './i18n.ts'
import { useProducts } from './ordered-products.tsx'

const pageSize = 30

/** A collection for roles that cannot edit. */
export function CollectionView({ collection }: { collection: Schema<'CollectionWithProductIds'> }) {
  const count = useSignal(pageSize)
  const shownIds = collection.productIds.slice(0, count.value)
  const products = useProducts(shownIds)
  return (
    <div class="columns">
      <Section title={common('products')}>
        <ol class="ordered">
          {shownIds.map((id) => (
            <li key={id}>
              <Picture url={products.value.get(id)?.images[0]?.url} />
              <a href={shopPath('products', id)}>
                <bdi class="cut">{products.value.get(id)?.title ?? id}</bdi>
              </a>
            </li>
          ))}
        </ol>
        {shownIds.length < collection.productIds.length && <Button onPress={() => (count.value += pageSize)} text={t('later')} />}
      </Section>
      <Section title={t('basics')}>
        <FactList facts={[[common('handle'), <code>{collection.handle}</code>]]} />
        {collection.image && <Picture url={collection.image.url} alt={collection.image.alt} large />}
        {collection.descriptionHtml !== '' && <HtmlPreview html={collection.descriptionHtml} label={common('descriptionHtml')} />}
      </Section>
    </div>
  )
}
