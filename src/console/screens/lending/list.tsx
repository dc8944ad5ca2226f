import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { Refused } from '../../lib/api/api-error.ts'
import { useIntention } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { usd } from '../../lib/format/format.ts'
import { lendingStateName, purposeName } from '../../lib/format/lending-names.ts'
import { common } from '../../lib/i18n/common.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { at, shop } from '../../lib/session/current-shop.ts'
import { State, When } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Problem } from '../../ui/error-message.tsx'
import { LoadedList } from '../../ui/list.tsx'
import { Empty, Page } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { t } from './i18n.ts'
import { Standing } from './status.tsx'

type Application = Schema<'LendingApplication'>

const columns = (): readonly Column<Application>[] => [
  { key: 'begun', title: t('begun'), main: true, cell: ({ createdAt }) => <When at={createdAt} /> },
  { key: 'status', title: common('status'), cell: ({ status }) => <State of={status} text={lendingStateName(status)} /> },
  {
    key: 'amount',
    title: t('amount'),
    end: true,
    cell: ({ requestedAmountUsd: dollars }) => (dollars === null ? '–' : usd(dollars)),
  },
  { key: 'term', title: t('term'), cell: ({ requestedTermMonths: n }) => (n === null ? '–' : t('months', { n })) },
  { key: 'purpose', title: t('purpose'), cell: ({ purposeCode }) => (purposeCode ? purposeName(purposeCode) : '–') },
]

/** The shop's applications for loans, and how it stands with lenders. */
export default function Lending() {
  const query = useQuery()
  const list = useResource(`${shop.value?.id} ${query.page}`, (signal) =>
    ok(api.GET('/lending-application', { params: { query: { page: query.page, limit: 20 } }, signal })),
  )
  const [refusal, setRefusal] = useState<unknown>(undefined)
  const { route } = useLocation()
  const once = useIntention()
  async function begin(): Promise<void> {
    setRefusal(undefined)
    try {
      const made = await once('begin', (key) =>
        ok(api.POST('/lending-application', { params: { header: { 'idempotency-key': key } }, body: {} })),
      )
      route(at('lending', made.id))
    } catch (error) {
      setRefusal(error)
    }
  }
  const error = list.error.value
  if (error instanceof Refused && error.status === 404)
    return (
      <Page title={t('title')}>
        <Empty icon="money" title={t('off')} text={t('offText')} />
      </Page>
    )
  return (
    <Page
      title={t('title')}
      subtitle={t('subtitle')}
      actions={
        <Button icon="plus" kind="primary" onPress={begin}>
          {t('begin')}
        </Button>
      }
    >
      {refusal !== undefined && <Problem error={refusal} />}
      {refusal instanceof Refused && refusal.status === 403 && (
        <p>
          {t('needsKyb')} <a href={at('settings', 'verification')}>{t('verify')}</a>
        </p>
      )}
      <LoadedList of={list} query={query} empty={<Empty icon="money" title={t('none')} text={t('noneText')} />}>
        {(found) => (
          <Table
            caption={t('applications')}
            columns={columns()}
            rows={found.data}
            rowKey={({ id }) => id}
            href={({ id }) => at('lending', id)}
          />
        )}
      </LoadedList>
      <Standing />
    </Page>
  )
}
