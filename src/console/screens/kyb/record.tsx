import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { api, ifMatch, pathWith, Refused, readVersioned, type Schema } from '../../lib/api/api.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { percentOfShare } from '../../lib/format/format.ts'
import { cohortName, lendingText } from '../../lib/format/lending-names.ts'
import { countryName } from '../../lib/format/names.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { notify, showError } from '../../lib/live/toasts.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { operatorPath } from '../../lib/session/current-shop.ts'
import { myId } from '../../lib/session/session.ts'
import { AccountLink } from '../../ui/account-name.tsx'
import { BulletList } from '../../ui/bullet-list.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { CloseButton } from '../../ui/close-button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { TextAreaField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Note } from '../../ui/note.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Table } from '../../ui/table.tsx'
import { isOwnDecision } from './decided.domain.ts'
import { t } from './i18n.ts'
import { remainingShare } from './shares.domain.ts'

type Kyb = Schema<'AdminKybRecord'>
type VersionedRecord = { data: Kyb; etag: string }
type Decision = 'APPROVED' | 'REJECTED'
/** The decision of the URL's `do` parameter. */
const decisions: Readonly<Record<string, Decision>> = { approve: 'APPROVED', reject: 'REJECTED' }

/** A KYB record with owners, history and decision. */
export default function Business() {
  const id = useRoute().params['id'] ?? ''
  const record = useResource(id, (signal) => readVersioned<Kyb>(api.GET('/admin/kyb/{id}', { params: { path: { id } }, signal })))
  const query = useQuery()
  const [isLate, setLate] = useState(false)
  useLiveReload(['kyb.*'], record.reload, ({ data }) => data['subject'] === id)
  const current = record.data.value
  const of = current?.data
  const deciding = decisions[query.of['do'] ?? '']
  const close = () => query.set({ do: undefined }, { replace: true })
  return (
    <Page
      title={of?.legalName ?? t('record')}
      back={{ href: operatorPath('kyb'), text: t('title') }}
      {...(of && {
        subtitle: <StatusBadge of={of.status} />,
        actions: of.status === 'PENDING' && (
          <>
            <ButtonLink kind="primary" href={query.href({ do: 'approve' })} text={t('approve')} />
            <ButtonLink kind="danger" href={query.href({ do: 'reject' })} text={t('reject')} />
          </>
        ),
      })}
    >
      {isLate && <Note tone="warn">{t('late')}</Note>}
      <ResourceView of={record}>{({ data }) => <KybRecordView of={data} />}</ResourceView>
      {current && deciding && (
        <DecideDialog
          current={current}
          decision={deciding}
          record={record}
          onClose={close}
          onLate={() => {
            close()
            setLate(true)
          }}
        />
      )}
    </Page>
  )
}

const allowedTexts = ['freeShops', 'freeLive', 'freeLending', 'freeCards'] as const

/** Decides about the viewed version. There is nothing to overwrite, because a decision is a record's only change. */
function DecideDialog({
  current,
  decision,
  record,
  onClose,
  onLate,
}: {
  current: VersionedRecord
  decision: Decision
  record: Resource<VersionedRecord>
  onClose: () => void
  onLate: () => void
}) {
  // Another person's decision keeps the typed text; the API refuses a second one.
  const [begun] = useState(current)
  const of = current.data
  const reason = useSignal('')
  const name = truncate(of.legalName)
  const body = () => ({ decision, reason: reason.value.trim() || null })
  const mine = () => ({ actor: myId(), ...body() })
  function finish(): void {
    onClose()
    notify(t(decision === 'APPROVED' ? 'approved' : 'rejected', { name }))
  }
  async function decide(): Promise<void> {
    const sent = mine()
    try {
      const params = { path: { id: of.id }, header: ifMatch(begun.etag) }
      record.put(await readVersioned<Kyb>(api.POST('/admin/kyb/{id}/decision', { params, body: body() })))
      finish()
    } catch (error) {
      if (!(error instanceof Refused) || (error.status !== 409 && error.status !== 412)) throw error
      await record.reload()
      // A lost response: the stored decision is this one.
      if (record.data.value && isOwnDecision(record.data.value.data, sent)) return finish()
      showError(error)
      onLate()
    }
  }
  const isApproval = decision === 'APPROVED'
  if (begun.data.status !== 'PENDING') return null
  return (
    <FormDialog title={t(isApproval ? 'approveOf' : 'rejectOf', { name })} onClose={onClose}>
      {of.status !== 'PENDING' && !isOwnDecision(of, mine()) && <Note tone="warn">{t('meanwhile')}</Note>}
      {isApproval ? (
        <>
          <p>{t('approveFinal')}</p>
          <BulletList of={allowedTexts.map((one) => t(one))} />
        </>
      ) : (
        <p>{t('rejectWhat')}</p>
      )}
      <Form
        onSubmit={decide}
        submit={t(isApproval ? 'approve' : 'reject')}
        danger={!isApproval}
        dirty={reason.value !== ''}
        label={common('reason')}
        actions={<CloseButton />}
      >
        <TextAreaField label={common('reason')} hint={`${common('reasonHint')} (${common('optional')})`} bind={reason} max={2000} />
      </Form>
    </FormDialog>
  )
}

function KybRecordView({ of }: { of: Kyb }) {
  const rest = remainingShare(of.owners.map(({ share }) => share))
  return (
    <>
      {of.reason !== null && (
        <Note tone={of.status === 'REJECTED' ? 'bad' : 'info'}>
          <p class="people-text">
            {common('reason')}: <bdi>{of.reason}</bdi>
          </p>
        </Note>
      )}
      <div class="grid">
        <Section title={t('facts')}>
          <FactList
            of={[
              [common('legalName'), <bdi key="name">{of.legalName}</bdi>],
              [common('registrationNumber'), <bdi key="number">{of.registrationNumber}</bdi>],
              [common('address.countryCode'), countryName(of.country)],
              [lendingText('cohort'), cohortName(of.cohort)],
              [t('filed'), <Moment key="filed" at={of.createdAt} />],
              [t('decided'), of.decidedAt && <Moment key="decided" at={of.decidedAt} />],
              ['ID', <CopyableText key="id" text={of.id} label="ID" />],
              [common('merchant'), <CopyableText key="merchant" text={of.merchantId} label={common('merchant')} />],
            ]}
          />
        </Section>
        <Section title={common('history')}>
          <ol class="timeline">
            {of.events.map(({ type, at, actor, reason }, place) => (
              <li key={place}>
                <span>{t(`event.${type}`)}</span>
                {reason !== null && (
                  <small class="people-text">
                    <bdi>{reason}</bdi>
                  </small>
                )}
                <small class="faint">
                  <Moment at={at} /> · <AccountLink id={actor} />
                </small>
              </li>
            ))}
          </ol>
        </Section>
      </div>
      <Section title={t('owners')}>
        <Table
          caption={t('owners')}
          rows={of.owners.map((owner, place) => ({ ...owner, place }))}
          rowKey={({ place }) => place}
          columns={[
            { title: t('owner'), main: true, cell: ({ name }) => <bdi>{name}</bdi> },
            { title: t('share'), end: true, cell: ({ share }) => percentOfShare(share) },
          ]}
        />
        {rest > 0 && <Note>{t('sharesRest', { part: percentOfShare(rest) })}</Note>}
      </Section>
      <div class="row">
        <ButtonLink icon="products" href={pathWith(operatorPath('shops'), { q: of.merchantId })} text={common('theirShops')} />
        <ButtonLink icon="book" href={pathWith(operatorPath('audit'), { subject: of.id })} text={t('audit')} />
        <ButtonLink icon="book" href={pathWith(operatorPath('audit'), { actor: of.merchantId })} text={t('theirs')} />
      </div>
    </>
  )
}
