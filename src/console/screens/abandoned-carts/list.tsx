import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { number } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { CsvButton } from '../../ui/csv-button.tsx'
import { Filters } from '../../ui/filters.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Money } from '../../ui/money.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { t } from './i18n.ts'

type Cart = Schema<'AbandonedCart'>

/** Products that a row names. */
const titlesMax = 2

function Items({ cart: { lines } }: { cart: Cart }) {
  const units = lines.reduce((sum, { quantity }) => sum + quantity, 0)
  const titles = lines.slice(0, titlesMax).flatMap(({ title }) => title ?? [])
  return (
    <span>
      {number(units)}{' '}
      <small class="faint">
        <bdi class="cut">{titles.join(', ') + (lines.length > titlesMax ? ' …' : '')}</bdi>
      </small>
    </span>
  )
}

const columns = (): readonly Column<Cart>[] => [
  { title: common('email'), main: true, cell: ({ email }) => <bdi class="cut">{email ?? '–'}</bdi> },
  { title: t('changed'), cell: ({ updatedAt }) => <Moment at={updatedAt} /> },
  { title: t('items'), cell: (cart) => <Items cart={cart} /> },
  {
    title: t('mail'),
    words: true,
    cell: ({ mailedAt, acceptsMarketing }) => (mailedAt ? <Moment at={mailedAt} /> : t(acceptsMarketing ? 'notMailed' : 'noConsent')),
  },
  {
    title: t('recovered'),
    cell: ({ order }) => (order ? <a href={shopPath('orders', order.id)}>{t('order', { number: String(order.number) })}</a> : '–'),
  },
  { title: common('total'), alignEnd: true, cell: ({ total }) => <Money amount={total} /> },
]

/** Carts that shoppers left, and those that the mail about them brought back. */
export default function AbandonedCarts() {
  const query = useQuery()
  const { mailed, recovered } = query.values
  const filter = { ...(mailed ? { mailed } : {}), ...(recovered ? { recovered } : {}) }
  const carts = useResource(JSON.stringify([filter, query.page]), (signal) =>
    ok(api.GET('/carts/abandoned', { params: { query: { ...filter, page: query.page } as object }, signal })),
  )
  return (
    <Page
      title={common('abandonedCarts')}
      subtitle={t('subtitle')}
      actions={
        <>
          <CsvButton path="/carts/abandoned" query={filter} name="abandoned-carts" />
          <ButtonLink href={shopPath('settings', 'mail')} text={t('setting')} />
        </>
      }
    >
      <Filters
        query={query}
        filters={[
          {
            name: 'mailed',
            label: t('mail'),
            options: [
              ['true', t('mailed')],
              ['false', t('notMailed')],
            ],
          },
          {
            name: 'recovered',
            label: common('status'),
            options: [
              ['false', t('open')],
              ['true', t('recovered')],
            ],
          },
        ]}
      />
      <ListTable
        resource={carts}
        query={query}
        isFiltered={!!mailed || !!recovered}
        hasMorePages
        empty={<EmptyState icon="orders" title={t('none')} text={t('noneText')} />}
        caption={common('abandonedCarts')}
        columns={columns()}
      />
    </Page>
  )
}
