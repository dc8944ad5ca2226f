import { moment } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { operatorDayChoices, rangeQuery } from '../../lib/navigation/date-range.ts'
import { type Query, useQuery } from '../../lib/navigation/query.ts'
import { operatorPath } from '../../lib/session/current-shop.ts'
import { DateRangeFilter } from '../../ui/date-range-filter.tsx'
import { PercentChange } from '../../ui/figure.tsx'
import { Page, ResourceView } from '../../ui/page.tsx'
import { Sparkline } from '../../ui/sparkline.tsx'
import { t } from './i18n.ts'
import { firstParts, type KpiName, kpiNames } from './kpi.domain.ts'
import { KpiNotes, type KpiReading, kpiDateRange, kpiTitle, kpiValueText, partName, useKpi } from './kpi.tsx'

const partsMax = 4

/** Six figures of the instance, each linked to its page. */
export default function Figures() {
  const query = useQuery()
  const range = kpiDateRange(query.values)
  return (
    <Page title={common('figures')} subtitle={t('subtitle')}>
      <DateRangeFilter query={query} range={range} dayCounts={operatorDayChoices} />
      <div class="grid figures">
        {kpiNames.map((name) => (
          <KpiCard key={name} name={name} query={query} href={`${operatorPath('figures', name)}${rangeQuery(query.values)}`} />
        ))}
      </div>
    </Page>
  )
}

function KpiCard({ name, query, href }: { name: KpiName; query: Query; href: string }) {
  const kpi = useKpi(name, query)
  return (
    <section class="card linked" aria-label={kpiTitle(name)}>
      <h2>
        <a href={href}>{kpiTitle(name)}</a>
      </h2>
      <ResourceView resource={kpi}>{(reading) => <KpiSummary kpi={reading} name={name} />}</ResourceView>
    </section>
  )
}

function KpiSummary({ kpi, name }: { kpi: KpiReading; name: KpiName }) {
  const { shown, more } = firstParts(kpi.parts, partsMax)
  return (
    <>
      <p class="row total">
        <strong>{kpiValueText(name, kpi.total)}</strong>
        <PercentChange change={kpi.change} />
      </p>
      <small class="faint">{common('previousPeriod', { value: kpiValueText(name, kpi.previous) })}</small>
      <Sparkline values={kpi.series.map(({ value }) => value)} />
      {shown.length > 0 && (
        <dl class="amounts">
          {shown.map((part) => (
            <div key={part.name}>
              <dt>
                <bdi>{partName(part)}</bdi>
              </dt>
              <dd>{kpiValueText(name, part.value)}</dd>
            </div>
          ))}
        </dl>
      )}
      {more > 0 && <small class="faint">{t('moreParts', { n: more })}</small>}
      <KpiNotes kpi={kpi} isCompact />
      <small class="faint">{common('asOf', { at: moment(kpi.readAt) })}</small>
    </>
  )
}
