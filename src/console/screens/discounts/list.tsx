import { api, ok, type Schema } from '../../lib/api/api.ts'
import { download } from '../../lib/api/download.ts'
import { useResource } from '../../lib/api/resource.ts'
import { money, number, percentOfBps } from '../../lib/format/format.ts'
import { serverNow } from '../../lib/format/server-clock.ts'
import { c } from '../../lib/i18n/common.ts'
import { useLive } from '../../lib/live/live-events.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { at } from '../../lib/session/current-shop.ts'
import { State, When } from '../../ui/bits.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { LoadedList } from '../../ui/list.tsx'
import { Empty, Page } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { discountState, stateTone } from './discount.domain.ts'
import { w } from './i18n.ts'

type Discount = Schema<'Discount'>

/** What it takes off, in a word. */
export const discountValue = ({ kind, valueBps, amount }: Pick<Discount, 'kind' | 'valueBps' | 'amount'>): string => {
  if (kind === 'FREE_SHIPPING') return w('kind.FREE_SHIPPING')
  return kind === 'PERCENT' ? percentOfBps(valueBps ?? 0) : amount ? money(amount) : ''
}

export const DiscountStateOf = ({ of }: { of: Discount }) => {
  const state = discountState(of, serverNow())
  return <State of={state} text={w(`is.${state}`)} tone={stateTone[state]} />
}

const usedOf = ({ used, usageLimit }: Discount) =>
  usageLimit === null ? w('noLimit') : w('usedOf', { used: number(used ?? 0), limit: number(usageLimit) })

const columns = (): readonly Column<Discount>[] => [
  { key: 'title', title: w('name'), main: true, cell: ({ title }) => <bdi class="cut">{title}</bdi> },
  { key: 'code', title: w('code'), cell: ({ code }) => (code === null ? w('automatic') : <code dir="ltr">{code}</code>) },
  { key: 'value', title: w('takesOff'), cell: discountValue },
  { key: 'state', title: c('status'), cell: (discount) => <DiscountStateOf of={discount} /> },
  { key: 'ends', title: w('endsAt'), cell: ({ endsAt }) => (endsAt ? <When at={endsAt} /> : w('never')) },
  { key: 'used', title: w('used'), end: true, cell: usedOf },
]

export default function Discounts() {
  const query = useQuery()
  const discounts = useResource(String(query.page), (signal) =>
    ok(api.GET('/discounts', { params: { query: { page: query.page } }, signal })),
  )
  useLive(['order.*'], discounts.reload)
  const create = (
    <ButtonLink icon="plus" kind="primary" href={at('discounts', 'new')}>
      {w('add')}
    </ButtonLink>
  )
  return (
    <Page
      title={w('title')}
      actions={
        <>
          <Button icon="download" onPress={() => download('/discounts', 'discounts.csv', 'text/csv')}>
            {c('download')}
          </Button>
          {create}
        </>
      }
    >
      <LoadedList of={discounts} query={query} empty={<Empty icon="tag" title={w('none')} text={w('noneText')} action={create} />}>
        {(list) => (
          <Table caption={w('title')} columns={columns()} rows={list.data} rowKey={({ id }) => id} href={({ id }) => at('discounts', id)} />
        )}
      </LoadedList>
    </Page>
  )
}
