import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { ApiError } from '../../lib/api/api-error.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { usd } from '../../lib/format/format.ts'
import { lendingStateName, purposeName } from '../../lib/format/lending-names.ts'
import { common } from '../../lib/i18n/common.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { shop, shopPath } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorMessage } from '../../ui/error-message.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import type { Column } from '../../ui/table.tsx'
import { t } from './i18n.ts'
import { CreditTier } from './status.tsx'

type Application = Schema<'LendingApplication'>

const columns = (): readonly Column<Application>[] => [
  { title: t('begun'), main: true, cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { title: common('status'), cell: ({ status }) => <StatusBadge status={status} text={lendingStateName(status)} /> },
  { title: common('amount'), alignEnd: true, cell: ({ requestedAmountUsd: dollars }) => (dollars === null ? '–' : usd(dollars)) },
  { title: t('term'), cell: ({ requestedTermMonths: n }) => (n === null ? '–' : t('months', { n })) },
  { title: t('purpose'), cell: ({ purposeCode }) => (purposeCode ? purposeName(purposeCode) : '–') },
]

/** The shop's loan applications and credit tier. */
export default function Lending() {
  const query = useQuery()
  const list = useResource(`${shop.value?.id} ${query.page}`, (signal) =>
    ok(api.GET('/lending-application', { params: { query: { page: query.page, limit: 20 } }, signal })),
  )
  const [startError, setStartError] = useState<unknown>(undefined)
  const { route } = useLocation()
  const sendOnce = useIdempotentSend()
  async function startApplication(): Promise<void> {
    setStartError(undefined)
    try {
      const application = await sendOnce('begin', (header) => ok(api.POST('/lending-application', { params: { header }, body: {} })))
      route(shopPath('lending', application.id))
    } catch (error) {
      setStartError(error)
    }
  }
  const error = list.error.value
  if (error instanceof ApiError && error.status === 404)
    return (
      <Page title={common('lending')}>
        <EmptyState icon="money" title={t('off')} text={t('offText')} />
      </Page>
    )
  return (
    <Page
      title={common('lending')}
      subtitle={t('subtitle')}
      actions={<Button icon="plus" kind="primary" onPress={startApplication} text={t('begin')} />}
    >
      {startError !== undefined && <ErrorMessage error={startError} />}
      {startError instanceof ApiError && startError.status === 403 && (
        <p>
          {t('needsKyb')} <a href={shopPath('settings', 'verification')}>{t('verify')}</a>
        </p>
      )}
      <ListTable
        resource={list}
        query={query}
        empty={<EmptyState icon="money" title={t('none')} text={t('noneText')} />}
        caption={t('applications')}
        columns={columns()}
        href={({ id }) => shopPath('lending', id)}
      />
      <CreditTier />
    </Page>
  )
}
