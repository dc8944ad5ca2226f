import { api, ok, type Schema } from '../../lib/api/api.ts'
import { ApiError } from '../../lib/api/api-error.ts'
import { useResource } from '../../lib/api/resource.ts'
import { number } from '../../lib/format/format.ts'
import { guidanceOf } from '../../lib/format/lending-names.ts'
import type { Query } from '../../lib/navigation/query.ts'
import { FactList } from '../../ui/fact-list.tsx'
import { Moment } from '../../ui/moment.tsx'
import { ResourceView, Section } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { t } from './i18n.ts'

type Gap = Schema<'TierGap'>
const bases = ['T0', 'T1', 'T2', 'T3'] as const

/** The merchant's credit tier by repayments. The URL holds the lender's base tier. */
export function CreditTier({ merchantId, query }: { merchantId: string; query: Query }) {
  const baseTier = bases.find((base) => base === query.values['base']) ?? 'T1'
  const creditLimit = useResource(`${merchantId} ${baseTier}`, (signal) =>
    ok(
      api.GET('/admin/lending-application/credit-tier/upgrade-eligibility/{merchantId}', {
        params: { path: { merchantId }, query: { baseTier } },
        signal,
      }),
    ),
  )
  const error = creditLimit.error.value
  if (error instanceof ApiError && error.status === 404) return <Section title={t('earned')} hint={t('nobody')} />
  return (
    <Section title={t('earned')} hint={t('earnedHint')}>
      <p class="faint" aria-hidden="true">
        {t('base')}
      </p>
      <Tabs label={t('base')} tabs={bases.map((base) => ({ href: query.href({ base }), text: base, current: base === baseTier }))} />
      <ResourceView resource={creditLimit}>
        {({ earnedTier, effectiveTier, signals, nextTierGap, topTierGap }) => (
          <>
            <FactList
              facts={[
                [t('effectiveTier'), <strong key="effective">{effectiveTier}</strong>],
                [t('earnedTier'), earnedTier],
                [t('onTime'), number(signals.totalSettledOnTime)],
                [t('late'), number(signals.totalLate)],
                [t('defaults'), t('defaultsOf', { all: signals.totalDefaults, year: signals.trailingTwelveMonthDefaults })],
                [t('lenders'), number(signals.lenderCount)],
                [t('lastSettled'), signals.mostRecentSettlementAt && <Moment key="last" at={signals.mostRecentSettlementAt} />],
              ]}
            />
            {nextTierGap ? <TierGapText gap={nextTierGap} /> : <p>{t('top')}</p>}
            {topTierGap && topTierGap.targetTier !== nextTierGap?.targetTier && <TierGapText gap={topTierGap} />}
          </>
        )}
      </ResourceView>
    </Section>
  )
}

function TierGapText({ gap }: { gap: Gap }) {
  const guidance = guidanceOf(gap)
  return (
    <div>
      <h3>{t('toReach', { tier: gap.targetTier })}</h3>
      <p>
        {gap.onTimeSettlementsNeeded > 0 && t('missing', { n: gap.onTimeSettlementsNeeded })}{' '}
        {gap.blockingDefaultCount > 0 && t('blocking', { n: gap.blockingDefaultCount })}
      </p>
      {guidance && (
        <p class="hint">
          <bdi>{guidance}</bdi>
        </p>
      )}
    </div>
  )
}
