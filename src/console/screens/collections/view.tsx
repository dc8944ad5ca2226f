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

const step = 30

/** A collection for roles that cannot edit. */
export function CollectionView({ of }: { of: Schema<'CollectionWithProductIds'> }) {
  const count = useSignal(step)
  const shown = of.productIds.slice(0, count.value)
  const products = useProducts(shown)
  return (
    <div class="columns">
      <Section title={common('products')}>
        <ol class="ordered">
          {shown.map((id) => (
            <li key={id}>
              <Picture url={products.value.get(id)?.images[0]?.url} />
              <a href={shopPath('products', id)}>
                <bdi class="cut">{products.value.get(id)?.title ?? id}</bdi>
              </a>
            </li>
          ))}
        </ol>
        {shown.length < of.productIds.length && <Button onPress={() => (count.value += step)} text={t('later')} />}
      </Section>
      <Section title={t('basics')}>
        <FactList of={[[common('handle'), <code>{of.handle}</code>]]} />
        {of.image && <Picture url={of.image.url} alt={of.image.alt} large />}
        {of.descriptionHtml !== '' && <HtmlPreview html={of.descriptionHtml} label={common('descriptionHtml')} />}
      </Section>
    </div>
  )
}
