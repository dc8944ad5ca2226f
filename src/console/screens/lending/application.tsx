import { useEffect, useRef, useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { api, ok, readVersioned, type Schema } from '../../lib/api/api.ts'
import { usePolling } from '../../lib/api/poll.ts'
import { useResource } from '../../lib/api/resource.ts'
import { usd } from '../../lib/format/format.ts'
import { cohortName, lendingStateName, purposeName, translateItem } from '../../lib/format/lending-names.ts'
import { common } from '../../lib/i18n/common.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Documents } from './documents.tsx'
import { t } from './i18n.ts'
import { LoanForm } from './loan.tsx'
import { SubmitSection, WithdrawDialog } from './steps.tsx'

type Application = Schema<'LendingApplication'>

const openStatuses: readonly string[] = ['DRAFT', 'SUBMITTED', 'UNDER_REVIEW']
const undecidedStatuses: readonly string[] = ['SUBMITTED', 'UNDER_REVIEW']

/** A loan application with its documents and status. */
export default function ApplicationPage() {
  const id = useRoute().params['id'] ?? ''
  const path = { id }
  const application = useResource(id, (signal) =>
    readVersioned<Application>(api.GET('/lending-application/{id}', { params: { path }, signal })),
  )
  const current = application.data.value
  const checklist = useResource(id, async (signal) => {
    const { items } = await ok(api.GET('/lending-application/{id}/checklist', { params: { path }, signal }))
    return { items: items.map(translateItem) }
  })
  const files = useResource(id, (signal) => ok(api.GET('/lending-application/{id}/documents', { params: { path }, signal })))
  // Another partner needs other documents. Running uploads continue.
  const partner = current?.data.selectedTier1Partner
  const asks = useRef(partner)
  useEffect(() => {
    if (asks.current !== undefined && asks.current !== partner) void checklist.reload()
    asks.current = partner
  }, [partner])
  const handedIn = () => Promise.all([application.reload(), files.reload()])
  const [isLeaving, setLeaving] = useState(false)
  // Decisions send no event.
  usePolling(undecidedStatuses.includes(current?.data.status ?? ''), application.reload)
  return (
    <Page
      title={t('application')}
      subtitle={current && <StatusBadge of={current.data.status} text={lendingStateName(current.data.status)} />}
      back={{ href: shopPath('lending'), text: common('lending') }}
      actions={
        current &&
        openStatuses.includes(current.data.status) && <Button kind="danger" onPress={() => setLeaving(true)} text={t('withdraw')} />
      }
    >
      <ResourceView of={application} lines={8}>
        {(there) => (
          <>
            <ApplicationFacts of={there.data} />
            {there.data.status === 'DRAFT' && <LoanForm key={id} current={there} resource={application} />}
            <ResourceView of={checklist} lines={8}>
              {({ items }) => (
                <>
                  <Documents current={there} items={items} files={files} onChanged={handedIn} />
                  {there.data.status === 'DRAFT' && (
                    <SubmitSection current={there} items={items} onSubmitted={application.put} onOutdated={application.reload} />
                  )}
                </>
              )}
            </ResourceView>
          </>
        )}
      </ResourceView>
      {isLeaving && current && (
        <WithdrawDialog
          current={current}
          onClose={() => setLeaving(false)}
          onOutdated={application.reload}
          onWithdrawn={(now) => {
            setLeaving(false)
            application.put(now)
          }}
        />
      )}
    </Page>
  )
}

const ApplicationFacts = ({ of }: { of: Application }) => (
  <Section title={t('application')}>
    <FactList
      of={[
        [t('begun'), <Moment key="begun" at={of.createdAt} />],
        [common('businessKind'), cohortName(of.cohort)],
        [t('tier'), t(`tier.${of.tier}`)],
        ...(of.status === 'DRAFT'
          ? []
          : ([
              [common('amount'), of.requestedAmountUsd === null ? null : usd(of.requestedAmountUsd)],
              [t('term'), of.requestedTermMonths === null ? null : t('months', { n: of.requestedTermMonths })],
              [t('purpose'), of.purposeCode && purposeName(of.purposeCode)],
              [
                t('partner'),
                of.selectedTier1Partner ? t(`partner.${of.selectedTier1Partner}`) : <bdi>{of.selectedTier2Partner ?? '–'}</bdi>,
              ],
              [t('submittedAt'), of.submittedAt && <Moment key="submitted" at={of.submittedAt} />],
              [common('decided'), of.decidedAt && <Moment key="decided" at={of.decidedAt} />],
            ] as const)),
        ...(of.reason ? ([[common('reason'), <bdi key="reason">{of.reason}</bdi>]] as const) : []),
        ...(of.partnerExternalRef ? ([[t('reference'), <bdi key="reference">{of.partnerExternalRef}</bdi>]] as const) : []),
      ]}
    />
  </Section>
)
