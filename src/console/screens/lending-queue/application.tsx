import { useRoute } from 'preact-iso/router'
import { api, pathWith, readVersioned, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { number, usd } from '../../lib/format/format.ts'
import {
  cohortName,
  documentName,
  humanizeKey,
  lendingStateName,
  lendingText,
  purposeName,
  tierName,
} from '../../lib/format/lending-names.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { operatorPath } from '../../lib/session/current-shop.ts'
import { AccountLink } from '../../ui/account-name.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Note } from '../../ui/note.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { AssessmentFacts, EnvelopeFacts } from './assess.tsx'
import { CreditTier } from './credit-limit.tsx'
import { DecideDialog, type VersionedApplication } from './decide.tsx'
import { Documents } from './documents.tsx'
import { t } from './i18n.ts'
import { Partners } from './list.tsx'
import { decisionsIn } from './review.domain.ts'

type Application = Schema<'AdminLendingApplication'>

/** A loan application with documents, history and decision. */
export default function Review() {
  const { id = '' } = useRoute().params
  const query = useQuery()
  const read = (signal?: AbortSignal): Promise<VersionedApplication> =>
    readVersioned(api.GET('/admin/lending-application/{id}', { params: { path: { id } }, ...(signal && { signal }) }))
  const application = useResource(id, read)
  useLiveReload(
    ['lending.*', 'lending_document.*'],
    application.reload,
    ({ data }) => data['subject'] === id || data['applicationId'] === id,
  )
  const current = application.data.value
  const isOpen = current !== undefined && decisionsIn(current.data.status).length > 0
  return (
    <Page
      title={current ? titleOf(current.data) : t('application')}
      back={{ href: operatorPath('lending'), text: common('loanApplications') }}
      {...(current && {
        subtitle: (
          <>
            <StatusBadge of={current.data.status} text={lendingStateName(current.data.status)} /> {tierName(current.data.tier)}
          </>
        ),
        actions: isOpen && <ButtonLink kind="primary" href={query.href({ do: 'decide' })} text={t('decide')} />,
      })}
    >
      <ResourceView of={application}>
        {({ data }) => (
          <>
            {data.reason !== null && (
              <Note tone={data.status === 'REJECTED' ? 'bad' : 'info'}>
                <p class="people-text">
                  {common('reason')}: <bdi>{data.reason}</bdi>
                </p>
              </Note>
            )}
            <div class="columns">
              <div class="stack">
                <ApplicationFacts of={data} />
                <Documents of={data} />
                <Decisions of={data} />
              </div>
              <div class="stack">
                <CreditTier merchantId={data.merchantId} query={query} />
                <ApplicationHistory of={data} />
              </div>
            </div>
          </>
        )}
      </ResourceView>
      {current && query.of['do'] === 'decide' && (
        <DecideDialog of={current} read={read} onHeld={application.put} onClose={() => query.set({ do: undefined }, { replace: true })} />
      )}
    </Page>
  )
}

const titleOf = ({ requestedAmountUsd: amount, requestedTermMonths: n }: Application): string =>
  amount === null ? t('application') : n === null ? usd(amount) : t('titleOf', { amount: usd(amount), n })

const ApplicationFacts = ({ of }: { of: Application }) => (
  <Section title={t('asked')}>
    <FactList
      of={[
        [
          t('business'),
          of.business && (
            <a key="business" href={operatorPath('kyb', of.business.id)}>
              <bdi>{of.business.legalName}</bdi>
            </a>
          ),
        ],
        [t('amount'), of.requestedAmountUsd === null ? t('noAmount') : usd(of.requestedAmountUsd)],
        [t('term'), of.requestedTermMonths !== null && t('months', { n: of.requestedTermMonths })],
        [t('purpose'), of.purposeCode && purposeName(of.purposeCode)],
        [lendingText('cohort'), cohortName(of.cohort)],
        [common('affiliate'), <Partners key="partner" of={of} />],
        [t('reference'), of.partnerExternalRef && <bdi key="reference">{of.partnerExternalRef}</bdi>],
        [t('submitted'), of.submittedAt && <Moment key="submitted" at={of.submittedAt} />],
        [t('decidedAt'), of.decidedAt && <Moment key="decided" at={of.decidedAt} />],
        ['ID', <CopyableText key="id" text={of.id} label="ID" />],
        [common('merchant'), <CopyableText key="merchant" text={of.merchantId} label={common('merchant')} />],
        [t('createdBy'), <AccountLink key="by" id={of.createdBy} />],
      ]}
    />
    <div class="row">
      <ButtonLink icon="products" href={pathWith(operatorPath('shops'), { q: of.merchantId })} text={common('theirShops')} />
      <ButtonLink icon="money" href={pathWith(operatorPath('repayments'), { merchantId: of.merchantId })} text={common('repayments')} />
      <ButtonLink icon="book" href={pathWith(operatorPath('audit'), { subject: of.id })} text={t('audit')} />
    </div>
  </Section>
)

/** Decisions, newest first, with their figures. */
const Decisions = ({ of }: { of: Application }) => (
  <Section title={t('decisions')}>
    {of.decisions.length === 0 && <p class="faint">{t('noDecisions')}</p>}
    {of.historyCapped && <Note>{t('historyCapped', { n: number(of.decisions.length) })}</Note>}
    <ol class="timeline">
      {of.decisions.toReversed().map(({ decision, assessment, envelope, ruleVersion, actor, at }, place) => (
        <li key={place}>
          <span>
            <StatusBadge of={decision} text={lendingStateName(decision)} />
          </span>
          {assessment && <AssessmentFacts of={assessment} />}
          {envelope && <EnvelopeFacts of={envelope} />}
          {ruleVersion !== null && (
            <small class="faint">
              {t('rules')} <code>{ruleVersion}</code>
            </small>
          )}
          <small class="faint">
            <Moment at={at} /> · <AccountLink id={actor} />
          </small>
        </li>
      ))}
    </ol>
  </Section>
)

const fieldName = (name: string): string => {
  const key = `field.${name}`
  return t.has(key) ? t(key) : humanizeKey(name)
}

const ApplicationHistory = ({ of }: { of: Application }) => (
  <Section title={common('history')}>
    <ol class="timeline">
      {of.events.toReversed().map(({ type, at, toStatus, subject, actor, reason, partnerExternalRef }, place) => {
        const key = `event.${type}`
        return (
          <li key={place}>
            <span>
              {t.has(key) ? t(key) : type}
              {type === 'DECIDED' && `: ${lendingStateName(toStatus)}`}
            </span>
            {subject !== null && (
              <small class="faint">
                {type.startsWith('DOCUMENT') ? documentName(subject) : subject.split(', ').map(fieldName).join(', ')}
              </small>
            )}
            {reason !== null && (
              <small class="people-text">
                <bdi>{reason}</bdi>
              </small>
            )}
            {partnerExternalRef !== null && (
              <small>
                {t('reference')}: <bdi>{partnerExternalRef}</bdi>
              </small>
            )}
            <small class="faint">
              <Moment at={at} /> · <AccountLink id={actor} />
            </small>
          </li>
        )
      })}
    </ol>
  </Section>
)
