import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { api, ifMatch, pathWith, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import { ApiError } from '../../lib/api/api-error.ts'
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
import { t } from './i18n.ts'
import { isOwnDecision } from './own-decision.domain.ts'
import { remainingShare } from './shares.domain.ts'

type Kyb = Schema<'AdminKybRecord'>
type Decision = 'APPROVED' | 'REJECTED'
/** The decision of the URL's `do` parameter. */
const decisions: Readonly<Record<string, Decision>> = { approve: 'APPROVED', reject: 'REJECTED' }

/** A KYB record with owners, history and decision. */
export default function Business() {
  const id = useRoute().params['id'] ?? ''
  const record = useResource(id, (signal) => readVersioned<Kyb>(api.GET('/admin/kyb/{id}', { params: { path: { id } }, signal })))
  const query = useQuery()
  const [wasDecidedElsewhere, setDecidedElsewhere] = useState(false)
  useLiveReload(['kyb.*'], record.reload, ({ data }) => data['subject'] === id)
  const current = record.data.value
  const kyb = current?.data
  const decision = decisions[query.values['do'] ?? '']
  const close = () => query.set({ do: undefined }, { replace: true })
  return (
    <Page
      title={kyb?.legalName ?? t('record')}
      back={{ href: operatorPath('kyb'), text: t('title') }}
      {...(kyb && {
        subtitle: <StatusBadge status={kyb.status} />,
        actions: kyb.status === 'PENDING' && (
          <>
            <ButtonLink kind="primary" href={query.href({ do: 'approve' })} text={t('approve')} />
            <ButtonLink kind="danger" href={query.href({ do: 'reject' })} text={t('reject')} />
          </>
        ),
      })}
    >
      {wasDecidedElsewhere && <Note tone="warn">{t('late')}</Note>}
      <ResourceView resource={record}>{({ data }) => <KybRecordView kyb={data} />}</ResourceView>
      {current && decision && (
        <DecideDialog
          current={current}
          decision={decision}
          record={record}
          onClose={close}
          onDecidedElsewhere={() => {
            close()
            setDecidedElsewhere(true)
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
  onDecidedElsewhere,
}: {
  current: Versioned<Kyb>
  decision: Decision
  record: Resource<Versioned<Kyb>>
  onClose: () => void
  onDecidedElsewhere: () => void
}) {
  // Another person's decision keeps the typed text; the API refuses a second one.
  const [viewed] = useState(current)
  const kyb = current.data
  const reason = useSignal('')
  const name = truncate(kyb.legalName)
  const body = () => ({ decision, reason: reason.value.trim() || null })
  const ownDecision = () => ({ actor: myId(), ...body() })
  function finish(): void {
    onClose()
    notify(t(decision === 'APPROVED' ? 'approved' : 'rejected', { name }))
  }
  async function decide(): Promise<void> {
    const sent = ownDecision()
    try {
      const params = { path: { id: kyb.id }, header: ifMatch(viewed.etag) }
      record.put(await readVersioned<Kyb>(api.POST('/admin/kyb/{id}/decision', { params, body: body() })))
      finish()
    } catch (error) {
      if (!(error instanceof ApiError) || (error.status !== 409 && error.status !== 412)) throw error
      await record.reload()
      // A lost response: the stored decision is this one.
      if (record.data.value && isOwnDecision(record.data.value.data, sent)) return finish()
      showError(error)
      onDecidedElsewhere()
    }
  }
  const isApproval = decision === 'APPROVED'
  if (viewed.data.status !== 'PENDING') return null
  return (
    <FormDialog title={t(isApproval ? 'approveOf' : 'rejectOf', { name })} onClose={onClose}>
      {kyb.status !== 'PENDING' && !isOwnDecision(kyb, ownDecision()) && <Note tone="warn">{t('meanwhile')}</Note>}
      {isApproval ? (
        <>
          <p>{t('approveFinal')}</p>
          <BulletList items={allowedTexts.map((key) => t(key))} />
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

function KybRecordView({ kyb }: { kyb: Kyb }) {
  const unownedShare = remainingShare(kyb.owners.map(({ share }) => share))
  return (
    <>
      {kyb.reason !== null && (
        <Note tone={kyb.status === 'REJECTED' ? 'bad' : 'info'}>
          <p class="people-text">
            {common('reason')}: <bdi>{kyb.reason}</bdi>
          </p>
        </Note>
      )}
      <div class="grid">
        <Section title={t('facts')}>
          <FactList
            facts={[
              [common('legalName'), <bdi key="name">{kyb.legalName}</bdi>],
              [common('registrationNumber'), <bdi key="number">{kyb.registrationNumber}</bdi>],
              [common('address.countryCode'), countryName(kyb.country)],
              [lendingText('cohort'), cohortName(kyb.cohort)],
              [t('filed'), <Moment key="filed" at={kyb.createdAt} />],
              [t('decided'), kyb.decidedAt && <Moment key="decided" at={kyb.decidedAt} />],
              ['ID', <CopyableText key="id" text={kyb.id} label="ID" />],
              [common('merchant'), <CopyableText key="merchant" text={kyb.merchantId} label={common('merchant')} />],
            ]}
          />
        </Section>
        <Section title={common('history')}>
          <ol class="timeline">
            {kyb.events.map(({ type, at, actor, reason }, index) => (
              <li key={index}>
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
          rows={kyb.owners.map((owner, index) => ({ ...owner, index }))}
          rowKey={({ index }) => index}
          columns={[
            { title: t('owner'), main: true, cell: ({ name }) => <bdi>{name}</bdi> },
            { title: t('share'), alignEnd: true, cell: ({ share }) => percentOfShare(share) },
          ]}
        />
        {unownedShare > 0 && <Note>{t('sharesRest', { part: percentOfShare(unownedShare) })}</Note>}
      </Section>
      <div class="row">
        <ButtonLink icon="products" href={pathWith(operatorPath('shops'), { q: kyb.merchantId })} text={common('theirShops')} />
        <ButtonLink icon="book" href={pathWith(operatorPath('audit'), { subject: kyb.id })} text={t('audit')} />
        <ButtonLink icon="book" href={pathWith(operatorPath('audit'), { actor: kyb.merchantId })} text={t('theirs')} />
      </div>
    </>
  )
}
