import { useRoute } from 'preact-iso/router'
import { api, pathWith, type Schema, versioned } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { number, usd } from '../../lib/format/format.ts'
import { cohortName, documentName, lendingStateName, lendingText, purposeName, spoken, tierName } from '../../lib/format/lending-names.ts'
import { useLive } from '../../lib/live/live-events.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { net } from '../../lib/session/current-shop.ts'
import { Who } from '../../ui/account-name.tsx'
import { Copyable, Facts, Note, State, When } from '../../ui/bits.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { Loaded, Page, Section } from '../../ui/page.tsx'
import { AssessmentFacts, EnvelopeFacts } from './assess.tsx'
import { Earned } from './credit-limit.tsx'
import { DecideDialog, type Held } from './decide.tsx'
import { Documents } from './documents.tsx'
import { t } from './i18n.ts'
import { Partners } from './list.tsx'
import { decisionsIn } from './review.domain.ts'

type Application = Schema<'AdminLendingApplication'>

/** An application with all that is known of it, and what is decided. */
export default function Review() {
  const { id = '' } = useRoute().params
  const query = useQuery()
  const read = (signal?: AbortSignal): Promise<Held> =>
    versioned(api.GET('/admin/lending-application/{id}', { params: { path: { id } }, ...(signal && { signal }) }))
  const application = useResource(id, read)
  useLive(['lending.*', 'lending_document.*'], application.reload, ({ data }) => data['subject'] === id || data['applicationId'] === id)
  const held = application.data.value
  const isOpen = held !== undefined && decisionsIn(held.data.status).length > 0
  return (
    <Page
      title={held ? titleOf(held.data) : t('application')}
      back={{ href: net('lending'), text: t('title') }}
      {...(held && {
        subtitle: (
          <>
            <State of={held.data.status} text={lendingStateName(held.data.status)} /> {tierName(held.data.tier)}
          </>
        ),
        actions: isOpen && (
          <ButtonLink kind="primary" href={query.href({ do: 'decide' })}>
            {t('decide')}
          </ButtonLink>
        ),
      })}
    >
      <Loaded of={application}>
        {({ data }) => (
          <>
            {data.reason !== null && (
              <Note tone={data.status === 'REJECTED' ? 'bad' : 'info'}>
                <p class="people-text">
                  {t('reason')}: <bdi>{data.reason}</bdi>
                </p>
              </Note>
            )}
            <div class="columns">
              <div class="stack">
                <Asked of={data} />
                <Documents of={data} />
                <Decisions of={data} />
              </div>
              <div class="stack">
                <Earned merchantId={data.merchantId} query={query} />
                <History of={data} />
              </div>
            </div>
          </>
        )}
      </Loaded>
      {held && query.of['do'] === 'decide' && (
        <DecideDialog of={held} read={read} onHeld={application.put} onClose={() => query.set({ do: undefined }, { replace: true })} />
      )}
    </Page>
  )
}

const titleOf = ({ requestedAmountUsd: amount, requestedTermMonths: n }: Application): string =>
  amount === null ? t('application') : n === null ? usd(amount) : t('titleOf', { amount: usd(amount), n })

const Asked = ({ of }: { of: Application }) => (
  <Section title={t('asked')}>
    <Facts
      of={[
        [
          t('business'),
          of.business && (
            <a key="business" href={net('kyb', of.business.id)}>
              <bdi>{of.business.legalName}</bdi>
            </a>
          ),
        ],
        [t('amount'), of.requestedAmountUsd === null ? t('noAmount') : usd(of.requestedAmountUsd)],
        [t('term'), of.requestedTermMonths !== null && t('months', { n: of.requestedTermMonths })],
        [t('purpose'), of.purposeCode && purposeName(of.purposeCode)],
        [lendingText('cohort'), cohortName(of.cohort)],
        [t('partner'), <Partners key="partner" of={of} />],
        [t('reference'), of.partnerExternalRef && <bdi key="reference">{of.partnerExternalRef}</bdi>],
        [t('submitted'), of.submittedAt && <When key="submitted" at={of.submittedAt} />],
        [t('decidedAt'), of.decidedAt && <When key="decided" at={of.decidedAt} />],
        ['ID', <Copyable key="id" text={of.id} label="ID" />],
        [t('merchant'), <Copyable key="merchant" text={of.merchantId} label={t('merchant')} />],
        [t('createdBy'), <Who key="by" id={of.createdBy} />],
      ]}
    />
    <div class="row">
      <ButtonLink icon="products" href={pathWith(net('shops'), { q: of.merchantId })}>
        {t('shops')}
      </ButtonLink>
      <ButtonLink icon="money" href={pathWith(net('repayments'), { merchantId: of.merchantId })}>
        {t('repayments')}
      </ButtonLink>
      <ButtonLink icon="book" href={pathWith(net('audit'), { subject: of.id })}>
        {t('audit')}
      </ButtonLink>
    </div>
  </Section>
)

/** The newest first, each with the figures that it was judged by. */
const Decisions = ({ of }: { of: Application }) => (
  <Section title={t('decisions')}>
    {of.decisions.length === 0 && <p class="faint">{t('noDecisions')}</p>}
    {of.historyCapped && <Note>{t('historyCapped', { n: number(of.decisions.length) })}</Note>}
    <ol class="timeline">
      {of.decisions.toReversed().map(({ decision, assessment, envelope, ruleVersion, actor, at }, place) => (
        <li key={place}>
          <span>
            <State of={decision} text={lendingStateName(decision)} />
          </span>
          {assessment && <AssessmentFacts of={assessment} />}
          {envelope && <EnvelopeFacts of={envelope} />}
          {ruleVersion !== null && (
            <small class="faint">
              {t('rules')} <code>{ruleVersion}</code>
            </small>
          )}
          <small class="faint">
            <When at={at} /> · <Who id={actor} />
          </small>
        </li>
      ))}
    </ol>
  </Section>
)

const fieldName = (name: string): string => {
  const key = `field.${name}`
  return t.has(key) ? t(key) : spoken(name)
}

const History = ({ of }: { of: Application }) => (
  <Section title={t('history')}>
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
              <When at={at} /> · <Who id={actor} />
            </small>
          </li>
        )
      })}
    </ol>
  </Section>
)
