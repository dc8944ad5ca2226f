import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { money, number, percentOfBps } from '../../lib/format/format.ts'
import { serverNow } from '../../lib/format/server-clock.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { CreateLink } from '../../ui/button.tsx'
import { CsvButton } from '../../ui/csv-button.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import type { Column } from '../../ui/table.tsx'
import { discountState, stateTone } from './discount.domain.ts'
import { t } from './i18n.ts'

type Discount = Schema<'Discount'>

/** Returns the value of a discount as text. */
export const discountValue = ({ kind, valueBps, amount }: Pick<Discount, 'kind' | 'valueBps' | 'amount'>): string => {
  if (kind === 'FREE_SHIPPING') return t('kind.FREE_SHIPPING')
  return kind === 'PERCENT' ? percentOfBps(valueBps ?? 0) : amount ? money(amount) : ''
}

export const DiscountStateBadge = ({ discount }: { discount: Discount }) => {
  const state = discountState(discount, serverNow())
  return <StatusBadge status={state} text={t(`is.${state}`)} tone={stateTone[state]} />
}

const usageText = ({ used, usageLimit }: Discount) =>
  usageLimit === null ? number(used ?? 0) : t('usedOf', { used: number(used ?? 0), limit: number(usageLimit) })

const columns = (): readonly Column<Discount>[] => [
  { title: common('title'), main: true, cell: ({ title }) => <bdi class="cut">{title}</bdi> },
  { title: common('code'), cell: ({ code }) => (code === null ? t('automatic') : <code dir="ltr">{code}</code>) },
  { title: t('takesOff'), cell: discountValue },
  { title: common('status'), cell: (discount) => <DiscountStateBadge discount={discount} /> },
  { title: t('endsAt'), cell: ({ endsAt }) => (endsAt ? <Moment at={endsAt} /> : t('noEnd')) },
  { title: t('used'), alignEnd: true, cell: usageText },
]

export default function Discounts() {
  const query = useQuery()
  const discounts = useResource(String(query.page), (signal) =>
    ok(api.GET('/discounts', { params: { query: { page: query.page } }, signal })),
  )
  useLiveReload(['order.*'], discounts.reload)
  const create = <CreateLink href={shopPath('discounts', 'new')} text={t('add')} />
  return (
    <Page
      title={common('discounts')}
      actions={
        <>
          <CsvButton path="/discounts" name="discounts" />
          {create}
        </>
      }
    >
      <ListTable
        resource={discounts}
        query={query}
        empty={<EmptyState icon="tag" title={t('none')} text={t('noneText')} action={create} />}
        caption={common('discounts')}
        columns={columns()}
        href={({ id }) => shopPath('discounts', id)}
      />
    </Page>
  )
}
