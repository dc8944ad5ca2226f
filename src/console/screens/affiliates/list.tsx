import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { number, percentOfBps } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { CreateLink } from '../../ui/button.tsx'
import { CsvButton } from '../../ui/csv-button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { Money } from '../../ui/money.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import type { Column } from '../../ui/table.tsx'
import { AffiliateForm, EditAffiliate } from './form.tsx'
import { t } from './i18n.ts'

type Affiliate = Schema<'Affiliate'>

/** Shows earnings by currency. */
const Earnings = ({ affiliate, part }: { affiliate: Affiliate; part: 'pending' | 'approved' | 'reversed' }) => (
  <>
    {affiliate.earnings.map((earning) => (
      <div key={earning.currency}>
        <Money amount={earning[part]} />
      </div>
    ))}
  </>
)

const columns = (): readonly Column<Affiliate>[] => [
  { title: common('name'), main: true, cell: ({ name }) => <bdi class="cut">{name}</bdi> },
  { title: t('code'), cell: ({ code }) => <code dir="ltr">{code}</code> },
  { title: common('status'), cell: ({ active }) => <StatusBadge status={active ? 'ACTIVE' : 'DISABLED'} /> },
  { title: t('rate'), alignEnd: true, cell: ({ rateBps }) => percentOfBps(rateBps) },
  { title: t('clicks'), alignEnd: true, cell: ({ clicks }) => number(clicks) },
  { title: t('pending'), alignEnd: true, cell: (affiliate) => <Earnings affiliate={affiliate} part="pending" /> },
  { title: t('approved'), alignEnd: true, cell: (affiliate) => <Earnings affiliate={affiliate} part="approved" /> },
  { title: t('reversed'), alignEnd: true, cell: (affiliate) => <Earnings affiliate={affiliate} part="reversed" /> },
]

export default function Affiliates() {
  const query = useQuery()
  const { new: isNew, edit } = query.values
  const affiliates = useResource(String(query.page), (signal) =>
    ok(api.GET('/affiliates', { params: { query: { page: query.page } }, signal })),
  )
  useLiveReload(['order.*'], affiliates.reload)
  const page = query.values['page']
  const close = () => query.set({ new: undefined, edit: undefined, page }, { replace: true })
  const onSaved = () => {
    close()
    return affiliates.reload()
  }
  const create = <CreateLink href={query.href({ new: '1', page })} text={t('add')} />
  return (
    <Page
      title={common('affiliates')}
      actions={
        <>
          <CsvButton path="/affiliates" name="affiliates" />
          {create}
        </>
      }
    >
      <ListTable
        resource={affiliates}
        query={query}
        empty={<EmptyState icon="people" title={t('none')} text={t('noneText')} action={create} />}
        caption={common('affiliates')}
        columns={columns()}
        href={({ id }) => query.href({ edit: id, page })}
        above={() => <p class="hint">{t('earningsHint')}</p>}
      />
      {isNew ? (
        <FormDialog title={t('add')} onClose={close}>
          <AffiliateForm onSaved={onSaved} />
        </FormDialog>
      ) : edit ? (
        <FormDialog title={t('edit')} onClose={close}>
          <EditAffiliate id={edit} onSaved={onSaved} />
        </FormDialog>
      ) : null}
    </Page>
  )
}
