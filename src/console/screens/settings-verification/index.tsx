import { api, ok, type Schema } from '../../lib/api/api.ts'
import { ApiError } from '../../lib/api/api-error.ts'
import { usePolling } from '../../lib/api/poll.ts'
import { useResource } from '../../lib/api/resource.ts'
import { percentOfShare } from '../../lib/format/format.ts'
import { cohortName } from '../../lib/format/lending-names.ts'
import { countryName } from '../../lib/format/names.ts'
import { common } from '../../lib/i18n/common.ts'
import { shop } from '../../lib/session/current-shop.ts'
import { isOperator } from '../../lib/session/session.ts'
import { FactList } from '../../ui/fact-list.tsx'
import { Form } from '../../ui/form.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Note } from '../../ui/note.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { approveOwn } from './approve-own.ts'
import { GoingLive } from './going-live.tsx'
import { t } from './i18n.ts'
import { KybForm } from './kyb-form.tsx'

type Record = Schema<'KybRecord'>

/** Reads the KYB record; undefined if there is none. */
async function readRecord(signal: AbortSignal): Promise<{ record: Record | undefined }> {
  try {
    return { record: await ok(api.GET('/kyb', { signal })) }
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return { record: undefined }
    throw error
  }
}

/** Verification of the business, and going live. */
export default function Verification() {
  const kyb = useResource(shop.value?.id ?? '', readRecord)
  const status = kyb.data.value?.record?.status
  usePolling(status === 'PENDING', kyb.reload)
  return (
    <Page title={common('verification')} subtitle={t('subtitle')}>
      <ResourceView resource={kyb}>
        {({ record }) => (
          <>
            {record && <KybRecordView of={record} onChanged={(changed) => kyb.put({ record: changed })} />}
            {(!record || record.status === 'REJECTED') && <KybForm rejected={record} onFiled={(filed) => kyb.put({ record: filed })} />}
            <GoingLive kybStatus={record?.status ?? 'NONE'} />
          </>
        )}
      </ResourceView>
    </Page>
  )
}

const KybRecordView = ({
  of: { status, reason, cohort, legalName, registrationNumber, owners, ...of },
  onChanged,
}: {
  of: Record
  onChanged: (record: Record) => void
}) => (
  <Section title={t('business')} actions={<StatusBadge status={status} />}>
    {status === 'PENDING' && <Note>{isOperator.value ? t('pendingOwn') : t('pending')}</Note>}
    {status === 'PENDING' && isOperator.value && (
      <Form onSubmit={async () => onChanged(await approveOwn(of))} submit={t('approve')} label={t('approve')}>
        {null}
      </Form>
    )}
    {status === 'APPROVED' && <Note tone="good">{t('approved')}</Note>}
    {status === 'REJECTED' && (
      <Note tone="bad">
        {t('rejected')} {reason && <bdi>{`${common('reason')}: ${reason}`}</bdi>}
      </Note>
    )}
    <FactList
      facts={[
        [common('legalName'), <bdi key="name">{legalName}</bdi>],
        [common('registrationNumber'), <bdi key="number">{registrationNumber}</bdi>],
        [common('address.countryCode'), countryName(of.country)],
        [common('businessKind'), cohortName(cohort)],
        [
          t('owners'),
          <ul key="owners" class="bullets">
            {owners.map(({ name, share }, index) => (
              <li key={index}>
                <bdi>{name}</bdi>, {percentOfShare(share)}
              </li>
            ))}
          </ul>,
        ],
        [t('filedAt'), <Moment key="filed" at={of.createdAt} />],
        [common('decided'), of.decidedAt && <Moment key="decided" at={of.decidedAt} />],
        ...(status === 'APPROVED' && reason ? [[common('reason'), <bdi key="reason">{reason}</bdi>] as const] : []),
      ]}
    />
  </Section>
)
