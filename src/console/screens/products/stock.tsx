import { useRoute } from 'preact-iso/router'
import { api, ok, pathWith, type Schema } from '../../lib/api/api.ts'
import { download } from '../../lib/api/download.ts'
import { useResource } from '../../lib/api/resource.ts'
import { number } from '../../lib/format/format.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { canManage, shopPath } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { EmptyState, Page, ResourceView, Section } from '../../ui/page.tsx'
import { useStaffNames } from '../../ui/staff-name.tsx'
import type { Column } from '../../ui/table.tsx'
import { t } from './i18n.ts'
import { StockForm } from './stock-form.tsx'

type Change = Schema<'StockChange'>

const signed = (delta: number) => (delta > 0 ? `+${number(delta)}` : number(delta))
const columns = (staffName: ReturnType<typeof useStaffNames>): readonly Column<Change>[] => [
  { title: common('when'), main: true, cell: ({ at }) => <Moment at={at} /> },
  { title: common('change'), alignEnd: true, cell: ({ delta }) => signed(delta) },
  { title: t('newQuantity'), alignEnd: true, cell: ({ onHand }) => number(onHand) },
  { title: common('reason'), cell: ({ reason }) => <bdi>{reason ?? '–'}</bdi> },
  { title: t('by'), cell: ({ actor }) => staffName(actor) },
]

/** A variant's stock with its history. */
export default function Stock() {
  const { id = '', variant: variantId = '' } = useRoute().params
  const query = useQuery()
  const path = { id, variantId }
  const product = useResource(id, (signal) => ok(api.GET('/product-v2/{id}', { params: { path: { id } }, signal })))
  const history = useResource(`${variantId} ${query.page}`, (signal) =>
    ok(api.GET('/product-v2/{id}/variants/{variantId}/stock', { params: { path, query: { page: query.page } }, signal })),
  )
  const staffName = useStaffNames((history.data.value?.data ?? []).map(({ actor }) => actor))
  const reload = () => Promise.all([product.reload(), history.reload()])
  useLiveReload(['stock.*', 'import.finished'], reload, ({ event, data }) => event.startsWith('import.') || data['variantId'] === variantId)
  const current = product.data.value
  const variant = current?.variants.find((variant) => variant.id === variantId)
  const name = current && variant ? [current.title, current.variants.length > 1 ? variant.title : ''].filter(Boolean).join(' · ') : ''
  return (
    <Page
      title={t('stockTitle')}
      subtitle={<bdi class="cut">{name}</bdi>}
      back={{ href: shopPath('products', id), text: current ? truncate(current.title, 60) : common('product') }}
      actions={
        canManage.value && (
          <Button
            icon="download"
            onPress={() => download(pathWith(`/product-v2/${id}/variants/${variantId}/stock`), 'stock-history.csv', 'text/csv')}
            text={common('download')}
          />
        )
      }
    >
      <ResourceView resource={product}>
        {({ variants }) => {
          const shownVariant = variants.find((variant) => variant.id === variantId)
          if (!shownVariant) return <EmptyState icon="products" title={t('noVariant')} text={t('noVariantText')} />
          const { onHand, reserved, trackInventory, allowBackorder, lowStockAt, sku } = shownVariant
          return (
            <div class="columns">
              <Section title={t('now')}>
                <div aria-live="polite">
                  <FactList
                    facts={[
                      [t('onHand'), <strong>{number(onHand)}</strong>],
                      [t('reserved'), number(reserved)],
                      [t('free'), number(onHand - reserved)],
                      [t('lowStockAt'), lowStockAt === null ? undefined : number(lowStockAt)],
                      [t('track'), trackInventory ? common('yes') : common('no')],
                      [t('backorder'), allowBackorder ? common('yes') : common('no')],
                      [t('sku'), sku === null ? undefined : <bdi>{sku}</bdi>],
                    ]}
                  />
                </div>
              </Section>
              {canManage.value && (
                <Section title={t('changeStock')}>
                  <StockForm path={path} onChanged={reload} />
                </Section>
              )}
            </div>
          )
        }}
      </ResourceView>
      {!product.error.value && (
        <Section title={common('history')} hint={t('historyHint')}>
          <ListTable
            resource={history}
            query={query}
            empty={<EmptyState icon="clock" title={t('noHistory')} text={t('noHistoryText')} />}
            caption={common('when')}
            columns={columns(staffName)}
          />
        </Section>
      )}
    </Page>
  )
}
