import type { Schema } from '../../lib/api/api.ts'
import { money, number } from '../../lib/format/format.ts'
import { c } from '../../lib/i18n/common.ts'
import { at } from '../../lib/session/current-shop.ts'
import { Facts, Money, State, When } from '../../ui/bits.tsx'
import { Preview } from '../../ui/html-preview.tsx'
import { Section } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { Table } from '../../ui/table.tsx'
import type { Figures } from './field-texts.ts'
import { w } from './i18n.ts'

/** A product, for whoever may read it and not change it. */
export function ProductView({ of, figures }: { of: Schema<'Product'>; figures: { readonly value: Figures } }) {
  const { title, descriptionHtml, images, variants, status, vendor, type, tags, handle, publishedAt } = of
  return (
    <div class="columns">
      <div class="stack">
        <Section title={w('basics')}>
          <p>
            <bdi>{title}</bdi>
          </p>
          {descriptionHtml.trim() === '' ? (
            <p class="faint">{w('noDescription')}</p>
          ) : (
            <Preview html={descriptionHtml} label={w('description')} />
          )}
        </Section>
        {images.length > 0 && (
          <Section title={w('pictures')}>
            <ul class="gallery">
              {images.map(({ id, url, alt }) => (
                <li key={id}>
                  <Picture url={url} alt={alt} large />
                </li>
              ))}
            </ul>
          </Section>
        )}
        <Section title={w('variants')}>
          <Table
            caption={w('priceAndStock')}
            rows={variants}
            rowKey={({ id }) => id}
            href={(variant) => at('products', of.id, 'variants', variant.id, 'stock')}
            columns={[
              { key: 'title', title: w('variant'), main: true, cell: (variant) => <bdi class="cut">{variant.title}</bdi> },
              { key: 'sku', title: w('sku'), cell: ({ sku }) => sku !== null && <bdi>{sku}</bdi> },
              { key: 'price', title: w('price'), end: true, cell: ({ price }) => <Money of={price} /> },
              { key: 'cost', title: w('cost'), end: true, cell: ({ cost }) => (cost ? money(cost) : '–') },
              {
                key: 'stock',
                title: w('onHand'),
                end: true,
                cell: ({ id, onHand, trackInventory }) =>
                  trackInventory ? number(figures.value.get(id)?.onHand ?? onHand) : w('notCounted'),
              },
            ]}
          />
        </Section>
      </div>
      <Section title={w('organisation')}>
        <Facts
          of={[
            [c('status'), <State of={status} />],
            [w('showing'), publishedAt === null ? w('showing.never') : <When at={publishedAt} />],
            [w('vendor'), <bdi>{vendor}</bdi>],
            [w('type'), <bdi>{type}</bdi>],
            [w('tags'), <bdi>{tags.join(', ')}</bdi>],
            [w('handle'), <code>{handle}</code>],
          ]}
        />
      </Section>
    </div>
  )
}
