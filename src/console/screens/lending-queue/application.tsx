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
            <StatusBadge status={current.data.status} text={lendingStateName(current.data.status)} /> {tierName(current.data.tier)}
          </>
        ),
        actions: isOpen && <ButtonLink kind="primary" href={query.href({ do: 'decide' })} text={t('decide')} />,
      })}
    >
      <ResourceView resource={application}>
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
                <ApplicationFacts application={data} />
                <Documents application={data} />
                <Decisions application={data} />
              </div>
              <div class="stack">
                <CreditTier merchantId={data.merchantId} query={query} />
                <ApplicationHistory application={data} />
              </div>
            </div>
          </>
        )}
      </ResourceView>
      {current && query.values['do'] === 'decide' && (
        <DecideDialog
          current={current}
          read={read}
          onCurrent={application.put}
          onClose={() => query.set({ do: undefined }, { replace: true })}
        />
      )}
    </Page>
  )
}

const titleOf = ({ requestedAmountUsd: amount, requestedTermMonths: n }: Application): string =>
  amount === null ? t('application') : n === null ? usd(amount) : t('titleOf', { amount: usd(amount), n })

const ApplicationFacts = ({ application }: { application: Application }) => (
  <Section title={t('asked')}>
    <FactList
      facts={[
        [
          t('business'),
          application.business && (
            <a key="business" href={operatorPath('kyb', application.business.id)}>
              <bdi>{application.business.legalName}</bdi>
            </a>
          ),
        ],
        [t('amount'), application.requestedAmountUsd === null ? t('noAmount') : usd(application.requestedAmountUsd)],
        [t('term'), application.requestedTermMonths !== null && t('months', { n: application.requestedTermMonths })],
        [t('purpose'), application.purposeCode && purposeName(application.purposeCode)],
        [lendingText('cohort'), cohortName(application.cohort)],
        [common('affiliate'), <Partners key="partner" application={application} />],
        [t('reference'), application.partnerExternalRef && <bdi key="reference">{application.partnerExternalRef}</bdi>],
        [t('submitted'), application.submittedAt && <Moment key="submitted" at={application.submittedAt} />],
        [t('decidedAt'), application.decidedAt && <Moment key="decided" at={application.decidedAt} />],
        ['ID', <CopyableText key="id" text={application.id} label="ID" />],
        [common('merchant'), <CopyableText key="merchant" text={application.merchantId} label={common('merchant')} />],
        [t('createdBy'), <AccountLink key="by" id={application.createdBy} />],
      ]}
    />
    <div class="row">
      <ButtonLink icon="products" href={pathWith(operatorPath('shops'), { q: application.merchantId })} text={common('theirShops')} />
      <ButtonLink
        icon="money"
        href={pathWith(operatorPath('repayments'), { merchantId: application.merchantId })}
        text={common('repayments')}
      />
      <ButtonLink icon="book" href={pathWith(operatorPath('audit'), { subject: application.id })} text={t('audit')} />
    </div>
  </Section>
)

/** Decisions, newest first, with their figures. */
const Decisions = ({ application }: { application: Application }) => (
  <Section title={t('decisions')}>
    {application.decisions.length === 0 && <p class="faint">{t('noDecisions')}</p>}
    {application.historyCapped && <Note>{t('historyCapped', { n: number(application.decisions.length) })}</Note>}
    <ol class="timeline">
      {application.decisions.toReversed().map(({ decision, assessment, envelope, ruleVersion, actor, at }, index) => (
        <li key={index}>
          <span>
            <StatusBadge status={decision} text={lendingStateName(decision)} />
          </span>
          {assessment && <AssessmentFacts assessment={assessment} />}
          {envelope && <EnvelopeFacts envelope={envelope} />}
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

const fieldName = (name: string): string => t.find(`field.${name}`) ?? humanizeKey(name)

const ApplicationHistory = ({ application }: { application: Application }) => (
  <Section title={common('history')}>
    <ol class="timeline">
      {application.events.toReversed().map(({ type, at, toStatus, subject, actor, reason, partnerExternalRef }, index) => (
        <li key={index}>
          <span>
            {t.find(`event.${type}`) ?? type}
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
      ))}
    </ol>
  </Section>
)
