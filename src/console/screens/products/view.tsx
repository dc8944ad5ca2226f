import type { Schema } from '../../lib/api/api.ts'
import { money, number } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { FactList } from '../../ui/fact-list.tsx'
import { HtmlPreview } from '../../ui/html-preview.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Money } from '../../ui/money.tsx'
import { Section } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Table } from '../../ui/table.tsx'
import type { StockFigures } from './field-texts.ts'
import { t } from './i18n.ts'

/** A product for roles that cannot edit. */
export function ProductView({ product, figures }: { product: Schema<'Product'>; figures: { readonly value: StockFigures } }) {
  const { title, descriptionHtml, images, variants, status, vendor, type, tags, handle, publishedAt } = product
  return (
    <div class="columns">
      <div class="stack">
        <Section title={t('basics')}>
          <p>
            <bdi>{title}</bdi>
          </p>
          {descriptionHtml.trim() === '' ? (
            <p class="faint">{t('noDescription')}</p>
          ) : (
            <HtmlPreview html={descriptionHtml} label={common('descriptionHtml')} />
          )}
        </Section>
        {images.length > 0 && (
          <Section title={common('pictures')}>
            <ul class="gallery">
              {images.map(({ id, url, alt }) => (
                <li key={id}>
                  <Picture url={url} alt={alt} large />
                </li>
              ))}
            </ul>
          </Section>
        )}
        <Section title={t('variants')}>
          <Table
            caption={t('priceAndStock')}
            rows={variants}
            rowKey={({ id }) => id}
            href={(variant) => shopPath('products', product.id, 'variants', variant.id, 'stock')}
            columns={[
              { title: t('variant'), main: true, cell: (variant) => <bdi class="cut">{variant.title}</bdi> },
              { title: t('sku'), cell: ({ sku }) => sku !== null && <bdi>{sku}</bdi> },
              { title: common('price'), alignEnd: true, cell: ({ price }) => <Money amount={price} /> },
              { title: t('cost'), alignEnd: true, cell: ({ cost }) => (cost ? money(cost) : '–') },
              {
                title: t('onHand'),
                alignEnd: true,
                cell: ({ id, onHand, trackInventory }) =>
                  trackInventory ? number(figures.value.get(id)?.onHand ?? onHand) : t('notCounted'),
              },
            ]}
          />
        </Section>
      </div>
      <Section title={t('organisation')}>
        <FactList
          facts={[
            [common('status'), <StatusBadge status={status} />],
            [t('showing'), publishedAt === null ? t('showing.never') : <Moment at={publishedAt} />],
            [t('vendor'), <bdi>{vendor}</bdi>],
            [common('type'), <bdi>{type}</bdi>],
            [common('tags'), <bdi>{tags.join(', ')}</bdi>],
            [common('handle'), <code>{handle}</code>],
          ]}
        />
      </Section>
    </div>
  )
}
