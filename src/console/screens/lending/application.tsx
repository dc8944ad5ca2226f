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
  const lastPartner = useRef(partner)
  useEffect(() => {
    if (lastPartner.current !== undefined && lastPartner.current !== partner) void checklist.reload()
    lastPartner.current = partner
  }, [partner])
  const reloadAll = () => Promise.all([application.reload(), files.reload()])
  const [isWithdrawing, setWithdrawing] = useState(false)
  // Decisions send no event.
  usePolling(undecidedStatuses.includes(current?.data.status ?? ''), application.reload)
  return (
    <Page
      title={t('application')}
      subtitle={current && <StatusBadge status={current.data.status} text={lendingStateName(current.data.status)} />}
      back={{ href: shopPath('lending'), text: common('lending') }}
      actions={
        current &&
        openStatuses.includes(current.data.status) && <Button kind="danger" onPress={() => setWithdrawing(true)} text={t('withdraw')} />
      }
    >
      <ResourceView resource={application} lines={8}>
        {(version) => (
          <>
            <ApplicationFacts application={version.data} />
            {version.data.status === 'DRAFT' && <LoanForm key={id} current={version} resource={application} />}
            <ResourceView resource={checklist} lines={8}>
              {({ items }) => (
                <>
                  <Documents current={version} items={items} files={files} onChanged={reloadAll} />
                  {version.data.status === 'DRAFT' && (
                    <SubmitSection current={version} items={items} onSubmitted={application.put} onOutdated={application.reload} />
                  )}
                </>
              )}
            </ResourceView>
          </>
        )}
      </ResourceView>
      {isWithdrawing && current && (
        <WithdrawDialog
          current={current}
          onClose={() => setWithdrawing(false)}
          onOutdated={application.reload}
          onWithdrawn={(version) => {
            setWithdrawing(false)
            application.put(version)
          }}
        />
      )}
    </Page>
  )
}

const ApplicationFacts = ({ application }: { application: Application }) => (
  <Section title={t('application')}>
    <FactList
      facts={[
        [t('begun'), <Moment key="begun" at={application.createdAt} />],
        [common('businessKind'), cohortName(application.cohort)],
        [t('tier'), t(`tier.${application.tier}`)],
        ...(application.status === 'DRAFT'
          ? []
          : ([
              [common('amount'), application.requestedAmountUsd === null ? null : usd(application.requestedAmountUsd)],
              [t('term'), application.requestedTermMonths === null ? null : t('months', { n: application.requestedTermMonths })],
              [t('purpose'), application.purposeCode && purposeName(application.purposeCode)],
              [
                t('partner'),
                application.selectedTier1Partner ? (
                  t(`partner.${application.selectedTier1Partner}`)
                ) : (
                  <bdi>{application.selectedTier2Partner ?? '–'}</bdi>
                ),
              ],
              [t('submittedAt'), application.submittedAt && <Moment key="submitted" at={application.submittedAt} />],
              [common('decided'), application.decidedAt && <Moment key="decided" at={application.decidedAt} />],
            ] as const)),
        ...(application.reason ? ([[common('reason'), <bdi key="reason">{application.reason}</bdi>]] as const) : []),
        ...(application.partnerExternalRef
          ? ([[t('reference'), <bdi key="reference">{application.partnerExternalRef}</bdi>]] as const)
          : []),
      ]}
    />
  </Section>
)
