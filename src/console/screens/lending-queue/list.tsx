import { api, ok, type Schema } from '../../lib/api/api.ts'
import { ApiError } from '../../lib/api/api-error.ts'
import { useResource } from '../../lib/api/resource.ts'
import { usd } from '../../lib/format/format.ts'
import {
  cohortName,
  cohortOptions,
  cohorts,
  humanizeKey,
  type LendingStatus,
  lendingStateName,
  lendingText,
  tierName,
  tiers,
} from '../../lib/format/lending-names.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { operatorPath } from '../../lib/session/current-shop.ts'
import { AccountName } from '../../ui/account-name.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { Filters } from '../../ui/filters.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import type { Column } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { AssessDialog } from './assess.tsx'
import { t } from './i18n.ts'

type Application = Schema<'QueuedLendingApplication'>

/** Statuses that need a decision come first. */
const statuses = ['SUBMITTED', 'UNDER_REVIEW', 'APPROVED', 'REJECTED', 'WITHDRAWN', 'DRAFT'] as const satisfies readonly LendingStatus[]
const pageSize = 50

const columns = (): readonly Column<Application>[] => [
  // A merchant without a live record is shown by account.
  {
    title: t('business'),
    main: true,
    cell: ({ business, merchantId }) => (business ? <bdi class="cut">{business.legalName}</bdi> : <AccountName id={merchantId} />),
  },
  {
    title: t('amount'),
    alignEnd: true,
    cell: ({ requestedAmountUsd }) => <span class="number">{requestedAmountUsd === null ? t('noAmount') : usd(requestedAmountUsd)}</span>,
  },
  { title: t('term'), cell: ({ requestedTermMonths: n }) => (n === null ? '–' : t('months', { n })) },
  { title: lendingText('cohort'), cell: ({ cohort }) => cohortName(cohort) },
  { title: lendingText('tier'), cell: ({ tier }) => tierName(tier) },
  { title: common('affiliate'), cell: (row) => <Partners application={row} /> },
  { title: common('status'), cell: ({ status }) => <StatusBadge status={status} text={lendingStateName(status)} /> },
  { title: t('submitted'), cell: ({ submittedAt }) => (submittedAt ? <Moment at={submittedAt} /> : '–') },
]

/** The chosen partner: one of the list, or free text. */
export const Partners = ({ application: { selectedTier1Partner: tier1, selectedTier2Partner: tier2 } }: { application: Application }) =>
  tier1 === null && tier2 === null ? (
    '–'
  ) : (
    <>
      {tier1 !== null && humanizeKey(tier1)} {tier2 !== null && <bdi class="cut">{tier2}</bdi>}
    </>
  )

/** Loan applications, oldest submission first. */
export default function Queue() {
  const query = useQuery()
  const { partner } = query.values
  const status = statuses.find((status) => status === query.values['status']) ?? 'SUBMITTED'
  const tier = tiers.find((tier) => tier === query.values['tier'])
  const cohort = cohorts.find((cohort) => cohort === query.values['cohort'])
  const filters = { status, ...(tier && { tier }), ...(cohort && { cohort }), ...(partner && { partner }) }
  const queue = useResource(JSON.stringify([filters, query.page]), (signal) =>
    ok(api.GET('/admin/lending-application', { params: { query: { ...filters, page: query.page, limit: pageSize } }, signal })),
  )
  useLiveReload(['lending.*', 'lending_document.*'], queue.reload)
  const error = queue.error.value
  // A switched-off feature answers 404.
  const isOff = error instanceof ApiError && error.status === 404
  return (
    <Page title={common('loanApplications')} actions={<ButtonLink href={query.href({ do: 'assess' })} text={t('assess')} />}>
      <Tabs
        label={common('status')}
        tabs={statuses.map((option) => ({
          href: query.href({ status: option }),
          text: lendingStateName(option),
          current: option === status,
        }))}
      />
      <Filters
        query={query}
        filters={[
          { name: 'tier', label: lendingText('tier'), options: tiers.map((tier) => [tier, tierName(tier)]) },
          { name: 'cohort', label: lendingText('cohort'), options: cohortOptions() },
          { name: 'partner', label: common('affiliate') },
        ]}
      />
      {isOff ? (
        <EmptyState icon="money" title={t('off')} text={t('offText')} />
      ) : (
        <ListTable
          resource={queue}
          query={query}
          isFiltered={!!tier || !!cohort || !!partner}
          empty={<EmptyState icon="money" title={t('empty', { status: lendingStateName(status) })} text={t('emptyText')} />}
          notFound={t('nothingText')}
          caption={common('loanApplications')}
          columns={columns()}
          href={({ id }) => operatorPath('lending', id)}
          above={(list) => list.totalCapped && <p class="hint">{t('capped', { n: list.total })}</p>}
        />
      )}
      {query.values['do'] === 'assess' && <AssessDialog onClose={() => query.set({ do: undefined }, { replace: true })} />}
    </Page>
  )
}
