import type { Schema } from '../../lib/api/api.ts'
import { number } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Money } from '../../ui/money.tsx'
import { Note } from '../../ui/note.tsx'
import { Section } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { variantDetail } from './draft.domain.ts'
import { t } from './i18n.ts'

/** A draft order that can no longer be changed, or that the role may only read. */
export const DraftResult = ({ draft }: { draft: Schema<'DraftOrder'> }) => (
  <Section title={t('lines')}>
    {draft.status !== 'OPEN' && <Note tone={draft.status === 'COMPLETED' ? 'good' : 'info'}>{t(`became.${draft.status}`)}</Note>}
    {draft.orderId && (
      <div class="row">
        <ButtonLink kind="primary" icon="orders" href={shopPath('orders', draft.orderId)} text={t('toOrder')} />
      </div>
    )}
    <Table
      caption={t('lines')}
      rows={draft.lines}
      rowKey={({ id }) => id}
      columns={[
        {
          title: common('product'),
          main: true,
          cell: ({ title, variantTitle, sku, variantId }) => (
            <>
              <bdi>{title ?? variantId}</bdi> <small class="faint">{variantDetail({ variantTitle, sku })}</small>
            </>
          ),
        },
        { title: common('quantity'), alignEnd: true, cell: ({ quantity }) => number(quantity) },
        { title: t('price'), alignEnd: true, cell: ({ unitPrice }) => <Money amount={unitPrice} /> },
        { title: common('total'), alignEnd: true, cell: ({ total }) => <Money amount={total} /> },
      ]}
    />
  </Section>
)
