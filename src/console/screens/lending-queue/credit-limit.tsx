import { api, ok, Refused, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { number } from '../../lib/format/format.ts'
import { guidanceOf } from '../../lib/format/lending-names.ts'
import type { Query } from '../../lib/navigation/query.ts'
import { Facts, Tabs, When } from '../../ui/bits.tsx'
import { Loaded, Section } from '../../ui/page.tsx'
import { w } from './i18n.ts'

type Gap = Schema<'TierGap'>
const bases = ['T0', 'T1', 'T2', 'T3'] as const

/** Where a merchant stands by what they paid back, beside the tier that a lender gives them, which stands in the address. */
export function Earned({ merchantId, query }: { merchantId: string; query: Query }) {
  const baseTier = bases.find((one) => one === query.of['base']) ?? 'T1'
  const standing = useResource(`${merchantId} ${baseTier}`, (signal) =>
    ok(
      api.GET('/admin/lending-application/credit-tier/upgrade-eligibility/{merchantId}', {
        params: { path: { merchantId }, query: { baseTier } },
        signal,
      }),
    ),
  )
  const refusal = standing.error.value
  if (refusal instanceof Refused && refusal.status === 404) return <Section title={w('earned')} hint={w('nobody')} />
  return (
    <Section title={w('earned')} hint={w('earnedHint')}>
      <p class="faint" aria-hidden="true">
        {w('base')}
      </p>
      <Tabs label={w('base')} of={bases.map((one) => ({ href: query.href({ base: one }), text: one, current: one === baseTier }))} />
      <Loaded of={standing}>
        {({ earnedTier, effectiveTier, signals, nextTierGap, topTierGap }) => (
          <>
            <Facts
              of={[
                [w('effectiveTier'), <strong key="effective">{effectiveTier}</strong>],
                [w('earnedTier'), earnedTier],
                [w('onTime'), number(signals.totalSettledOnTime)],
                [w('late'), number(signals.totalLate)],
                [w('defaults'), w('defaultsOf', { all: signals.totalDefaults, year: signals.trailingTwelveMonthDefaults })],
                [w('lenders'), number(signals.lenderCount)],
                [w('lastSettled'), signals.mostRecentSettlementAt && <When key="last" at={signals.mostRecentSettlementAt} />],
              ]}
            />
            {nextTierGap ? <Missing of={nextTierGap} /> : <p>{w('top')}</p>}
            {topTierGap && topTierGap.targetTier !== nextTierGap?.targetTier && <Missing of={topTierGap} />}
          </>
        )}
      </Loaded>
    </Section>
  )
}

function Missing({ of }: { of: Gap }) {
  const guidance = guidanceOf(of)
  return (
    <div>
      <h3>{w('toReach', { tier: of.targetTier })}</h3>
      <p>
        {w('missing', { n: of.onTimeSettlementsNeeded })} {of.blockingDefaultCount > 0 && w('blocking', { n: of.blockingDefaultCount })}
      </p>
      {guidance && (
        <p class="hint">
          <bdi>{guidance}</bdi>
        </p>
      )}
    </div>
  )
}
