import { useState } from 'preact/hooks'
import { api, ok } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { day, usd } from '../../lib/format/format.ts'
import { outcomeName, outcomes } from '../../lib/format/lending-names.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { common } from '../../lib/i18n/common.ts'
import { type Query, useQuery } from '../../lib/navigation/query.ts'
import { operatorPath } from '../../lib/session/current-shop.ts'
import { AccountName } from '../../ui/account-name.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { Filters } from '../../ui/filters.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import type { Column } from '../../ui/table.tsx'
import { CreditTier } from '../lending-queue/credit-limit.tsx'
import { t } from './i18n.ts'
import { RecordDialog } from './record.tsx'
import { readLenders } from './record-search.ts'
import type { Repayment } from './repayment.domain.ts'
import { ReverseDialog } from './reverse.tsx'
import { LoanTapeImport } from './tape.tsx'

const tones = { ON_TIME: 'good', LATE: 'warn', DEFAULT: 'bad' } as const

/** A UTC date as in loan tapes; the timestamp is the title. */
const UtcDay = ({ at }: { at: string }) => (
  <time dateTime={at} title={at}>
    {day(at.slice(0, 10))}
  </time>
)

const columns = (query: Query, lenders: ReadonlyMap<string, string>): readonly Column<Repayment>[] => [
  { title: t('loanRef'), main: true, cell: ({ loanRef }) => <bdi class="cut">{loanRef}</bdi> },
  {
    title: t('outcome'),
    cell: ({ outcome, source }) => (
      <span class="lines">
        <span>
          <StatusBadge status={outcome} text={outcomeName(outcome)} tone={tones[outcome]} />
        </span>
        <small class="faint">{t(`source.${source}`)}</small>
      </span>
    ),
  },
  { title: common('amount'), alignEnd: true, cell: ({ amountUsd }) => usd(amountUsd) },
  { title: t('due'), cell: ({ dueAt }) => <UtcDay at={dueAt} /> },
  { title: t('settled'), cell: ({ settledAt }) => (settledAt ? <UtcDay at={settledAt} /> : '–') },
  {
    title: t('lenderMerchant'),
    cell: ({ lenderId, merchantId }) => (
      <span class="lines">
        <a href={query.href({ lenderId })}>
          <bdi class="cut">{lenders.get(lenderId) ?? lenderId}</bdi>
        </a>
        <a href={query.href({ merchantId })}>
          <AccountName id={merchantId} />
        </a>
      </span>
    ),
  },
  {
    title: t('counts'),
    cell: ({ id, reversal, loanRef }) =>
      reversal ? (
        <>
          <span class="faint">
            {t('reversed')} <Moment at={reversal.recordedAt} />
          </span>{' '}
          <bdi class="cut">{reversal.reason}</bdi>
        </>
      ) : (
        <ButtonLink
          kind="quiet"
          label={t('reverseOf', { loan: truncate(loanRef) })}
          href={query.href({ do: 'reverse', id, page: query.values['page'] })}
          text={t('reverse')}
        />
      ),
  },
]

/** Repayments of merchants, which raise their credit tiers. */
export default function Repayments() {
  const query = useQuery()
  const { merchantId, lenderId, loanRef, do: dialog } = query.values
  const outcome = outcomes.find((outcome) => outcome === query.values['outcome'])
  const filters = {
    ...(merchantId && { merchantId }),
    ...(lenderId && { lenderId }),
    ...(loanRef && { loanRef }),
    ...(outcome && { outcome }),
  }
  const isFiltered = Object.keys(filters).length > 0
  const list = useResource(JSON.stringify([filters, query.page]), (signal) =>
    ok(api.GET('/admin/repayments', { params: { query: { ...filters, page: query.page } }, signal })),
  )
  // Lender names; ids are shown if the read fails.
  const lenders = useResource(
    'lenders',
    async (signal) => new Map((await readLenders(signal)).map(({ id, displayName }) => [id, displayName])),
  )
  const names = lenders.data.value ?? new Map<string, string>()
  const close = () => query.set({ do: undefined, id: undefined, page: query.values['page'] }, { replace: true })
  /** Remounts the credit tier after each change. */
  const [changes, setChanges] = useState(0)
  async function reload(): Promise<void> {
    setChanges((count) => count + 1)
    await list.reload()
  }
  function finish(): Promise<void> {
    close()
    return reload()
  }
  const repaymentToReverse =
    dialog === 'reverse' ? list.data.value?.data.find(({ id, reversal }) => id === query.values['id'] && !reversal) : undefined
  return (
    <Page
      title={common('repayments')}
      back={{ href: operatorPath('lending'), text: common('loanApplications') }}
      actions={
        <>
          <ButtonLink icon="upload" href={query.href({ do: 'tape' })} text={t('tape')} />
          <ButtonLink kind="primary" icon="plus" href={query.href({ do: 'record' })} text={t('record')} />
        </>
      }
    >
      {dialog === 'tape' && <LoanTapeImport onDone={reload} onClose={close} />}
      <Filters
        query={query}
        filters={[
          { name: 'merchantId', label: t('merchantId') },
          { name: 'lenderId', label: t('lender'), options: [...names] },
          { name: 'loanRef', label: t('loanRef') },
          { name: 'outcome', label: t('outcome'), options: outcomes.map((outcome) => [outcome, outcomeName(outcome)]) },
        ]}
      />
      <ListTable
        resource={list}
        query={query}
        isFiltered={isFiltered}
        empty={<EmptyState icon="money" title={t('empty')} text={t('emptyText')} />}
        notFound={t('nothingText')}
        caption={common('repayments')}
        columns={columns(query, names)}
      />
      {merchantId && <CreditTier key={changes} merchantId={merchantId} query={query} />}
      {dialog === 'record' && <RecordDialog merchantId={merchantId} onClose={close} onDone={finish} />}
      {repaymentToReverse && <ReverseDialog repayment={repaymentToReverse} onClose={close} onDone={finish} />}
    </Page>
  )
}
