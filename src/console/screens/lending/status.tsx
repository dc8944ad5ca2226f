import { api, ok, type Schema } from '../../lib/api/api.ts'
import { ApiError } from '../../lib/api/api-error.ts'
import { useResource } from '../../lib/api/resource.ts'
import { number } from '../../lib/format/format.ts'
import { guidanceOf } from '../../lib/format/lending-names.ts'
import { shop } from '../../lib/session/current-shop.ts'
import { FactList } from '../../ui/fact-list.tsx'
import { Note } from '../../ui/note.tsx'
import { ResourceView, Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { t } from './i18n.ts'

type Preview = Schema<'CreditTierUpgradePreview'>
type Gap = NonNullable<Preview['nextTierGap']>

/**
 * Reads the credit tier of the merchant; undefined before a KYB record exists, because nobody can have reported
 * repayments.
 */
async function readPreview(signal: AbortSignal): Promise<{ preview: Preview | undefined }> {
  try {
    const { merchantId } = await ok(api.GET('/kyb', { signal }))
    return {
      preview: await ok(api.GET('/v2/merchant/credit-tier/upgrade-preview/{merchantId}', { params: { path: { merchantId } }, signal })),
    }
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return { preview: undefined }
    throw error
  }
}

/** The tier that repayments have earned, and what the next one needs. */
export function CreditTier() {
  const credit = useResource(shop.value?.id ?? '', readPreview)
  return <ResourceView resource={credit}>{({ preview }) => preview && <CreditTierFacts preview={preview} />}</ResourceView>
}

function CreditTierFacts({ preview: { observedTier, signals, nextTierGap, topTierGap } }: { preview: Preview }) {
  const hasTopTierGap = topTierGap !== null && topTierGap.targetTier !== nextTierGap?.targetTier
  return (
    <Section title={t('standing')} hint={t('standingHint')} actions={<StatusBadge status={observedTier} tone="info" />}>
      <FactList
        facts={[
          [t('observed'), observedTier],
          [t('onTime'), number(signals.totalSettledOnTime)],
          [t('late'), number(signals.totalLate)],
          [t('defaults'), number(signals.totalDefaults)],
          [t('lenders'), number(signals.lenderCount)],
        ]}
      />
      {nextTierGap === null && <Note tone="good">{t('top')}</Note>}
      {nextTierGap && <TierGapText gap={nextTierGap} />}
      {hasTopTierGap && topTierGap && <TierGapText gap={topTierGap} />}
    </Section>
  )
}

function TierGapText({ gap }: { gap: Gap }) {
  const { targetTier, onTimeSettlementsNeeded: needed, blockingDefaultCount: blocking } = gap
  const guidance = guidanceOf(gap)
  return (
    <>
      <h3>{t('nextTier', { tier: targetTier })}</h3>
      <ul class="bullets">
        {needed > 0 && <li>{t('needed', { n: needed })}</li>}
        {blocking > 0 && <li>{t('blocking', { n: blocking })}</li>}
        {guidance && (
          <li class="faint">
            <bdi>{guidance}</bdi>
          </li>
        )}
      </ul>
    </>
  )
}
