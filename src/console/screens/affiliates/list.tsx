import { api, ok, type Schema } from '../../lib/api/api.ts'
import { download } from '../../lib/api/download.ts'
import { useResource } from '../../lib/api/resource.ts'
import { number, percentOfBps } from '../../lib/format/format.ts'
import { c } from '../../lib/i18n/common.ts'
import { useLive } from '../../lib/live/live-events.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { Money, State } from '../../ui/bits.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { LoadedList } from '../../ui/list.tsx'
import { Empty, Page } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { EditAffiliate, NewAffiliate } from './form.tsx'
import { w } from './i18n.ts'

type Affiliate = Schema<'Affiliate'>

/** What was earned, a currency after the other. */
const Earned = ({ of, part }: { of: Affiliate; part: 'pending' | 'approved' | 'reversed' }) => (
  <>
    {of.earnings.map((one) => (
      <div key={one.currency}>
        <Money of={one[part]} />
      </div>
    ))}
  </>
)

const columns = (): readonly Column<Affiliate>[] => [
  { key: 'name', title: w('name'), main: true, cell: ({ name }) => <bdi class="cut">{name}</bdi> },
  { key: 'code', title: w('code'), cell: ({ code }) => <code dir="ltr">{code}</code> },
  { key: 'state', title: c('status'), cell: ({ active }) => <State of={active ? 'ACTIVE' : 'DISABLED'} /> },
  { key: 'rate', title: w('rate'), end: true, cell: ({ rateBps }) => percentOfBps(rateBps) },
  { key: 'clicks', title: w('clicks'), end: true, cell: ({ clicks }) => number(clicks) },
  { key: 'pending', title: w('pending'), end: true, cell: (of) => <Earned of={of} part="pending" /> },
  { key: 'approved', title: w('approved'), end: true, cell: (of) => <Earned of={of} part="approved" /> },
  { key: 'reversed', title: w('reversed'), end: true, cell: (of) => <Earned of={of} part="reversed" /> },
]

export default function Affiliates() {
  const query = useQuery()
  const { new: isNew, edit } = query.of
  const affiliates = useResource(String(query.page), (signal) =>
    ok(api.GET('/affiliates', { params: { query: { page: query.page } }, signal })),
  )
  useLive(['order.*'], affiliates.reload)
  const page = query.of['page']
  const close = () => query.set({ new: undefined, edit: undefined, page }, { replace: true })
  const onSaved = () => {
    close()
    return affiliates.reload()
  }
  const create = (
    <ButtonLink icon="plus" kind="primary" href={query.href({ new: '1', page })}>
      {w('add')}
    </ButtonLink>
  )
  return (
    <Page
      title={w('title')}
      actions={
        <>
          <Button icon="download" onPress={() => download('/affiliates', 'affiliates.csv', 'text/csv')}>
            {c('download')}
          </Button>
          {create}
        </>
      }
    >
      <LoadedList of={affiliates} query={query} empty={<Empty icon="people" title={w('none')} text={w('noneText')} action={create} />}>
        {(list) => (
          <>
            <p class="hint">{w('earningsHint')}</p>
            <Table
              caption={w('title')}
              columns={columns()}
              rows={list.data}
              rowKey={({ id }) => id}
              href={({ id }) => query.href({ edit: id, page })}
            />
          </>
        )}
      </LoadedList>
      {isNew ? (
        <FormDialog title={w('add')} onClose={close}>
          <NewAffiliate onSaved={onSaved} />
        </FormDialog>
      ) : edit ? (
        <FormDialog title={w('edit')} onClose={close}>
          <EditAffiliate id={edit} onSaved={onSaved} />
        </FormDialog>
      ) : null}
    </Page>
  )
}
