import { useMemo } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { pathWith } from '../../lib/api/api.ts'
import { download } from '../../lib/api/download.ts'
import { percent, usd } from '../../lib/format/format.ts'
import { saveCsv } from '../../lib/format/save-csv.ts'
import { common } from '../../lib/i18n/common.ts'
import { operatorDayChoices, rangeDates, rangeQuery } from '../../lib/navigation/date-range.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { operatorPath } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { Plot } from '../../ui/chart.tsx'
import { DateRangeFilter } from '../../ui/date-range-filter.tsx'
import { Figure } from '../../ui/figure.tsx'
import { EmptyState, Page, ResourceView, Section } from '../../ui/page.tsx'
import { ReadingDates } from '../../ui/reading-dates.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { t } from './i18n.ts'
import { isKpi, type Kpi, type KpiName, type KpiPart, shareOf, unitOf } from './kpi.domain.ts'
import { formatOf, KpiNotes, type KpiReading, kpiDateRange, kpiTitle, kpiValueText, modeOf, partName, useKpi } from './kpi.tsx'

/** One figure of the instance, by day and by part. */
export default function Detail() {
  const name = useRoute().params['kpi']
  return isKpi(name) ? <KpiPage name={name} /> : <UnknownKpi />
}

const UnknownKpi = () => (
  <Page title={common('missing')} back={{ href: operatorPath(), text: common('figures') }}>
    <EmptyState title={common('missing')} text={common('missingText')} />
  </Page>
)

function KpiPage({ name }: { name: KpiName }) {
  const query = useQuery()
  const range = kpiDateRange(query.values)
  const kpi = useKpi(name, query)
  return (
    <Page
      title={kpiTitle(name)}
      subtitle={t(`about.${name}`)}
      back={{ href: `/console/net${rangeQuery(query.values)}`, text: common('figures') }}
      actions={
        <Button
          icon="download"
          onPress={async () =>
            download(
              pathWith(`/admin/dashboard/${name}`, { ...rangeDates(kpiDateRange(query.values)), ...(await modeOf(name)) }),
              `${name}.csv`,
              'text/csv',
            )
          }
          text={t('downloadDays')}
        />
      }
    >
      <DateRangeFilter query={query} range={range} dayCounts={operatorDayChoices} />
      <ResourceView resource={kpi}>{(reading) => <KpiDetail kpi={reading} name={name} />}</ResourceView>
    </Page>
  )
}

function KpiDetail({ kpi, name }: { kpi: KpiReading; name: KpiName }) {
  // The chart is redrawn when these values change.
  const plot = useMemo(
    () => ({
      dates: kpi.series.map(({ date }) => date),
      series: [{ name: kpiTitle(name), values: kpi.series.map(({ value }) => value) }],
      format: formatOf(name),
    }),
    [kpi, name],
  )
  return (
    <>
      <ReadingDates startDate={kpi.startDate} endDate={kpi.endDate} readAt={kpi.readAt} />
      <KpiNotes kpi={kpi} />
      <div class="grid">
        <Figure
          name={kpiTitle(name)}
          value={kpiValueText(name, kpi.total)}
          change={kpi.change}
          previous={kpiValueText(name, kpi.previous)}
        />
        {kpi.amounts && <Figure name={common('refunded')} value={usd(kpi.amounts.refundedUsd)} />}
        {kpi.amounts && <Figure name={t('confirmed')} value={usd(kpi.amounts.confirmedUsd)} />}
      </div>
      <Section>
        <Plot title={t('byDay')} {...plot} />
      </Section>
      <Breakdown kpi={kpi} name={name} />
    </>
  )
}

/** The parts of a figure as a table; a rate shows its amounts. */
function Breakdown({ kpi, name }: { kpi: Kpi; name: KpiName }) {
  const isRate = unitOf(name) === 'part'
  const columns: readonly Column<KpiPart>[] = [
    { title: t(`by.${name}`), main: true, cell: (part) => <bdi>{partName(part)}</bdi> },
    ...(isRate
      ? ([
          { title: common('refunded'), alignEnd: true, cell: ({ refundedUsd }) => usd(refundedUsd ?? 0) },
          { title: t('confirmed'), alignEnd: true, cell: ({ confirmedUsd }) => usd(confirmedUsd ?? 0) },
        ] satisfies Column<KpiPart>[])
      : []),
    { title: kpiTitle(name), alignEnd: true, cell: ({ value }) => kpiValueText(name, value) },
    ...(isRate
      ? []
      : ([
          {
            title: t('share'),
            alignEnd: true,
            cell: ({ value }) => {
              const share = shareOf(value, kpi.total)
              return share === null ? '–' : percent(share)
            },
          },
        ] satisfies Column<KpiPart>[])),
  ]
  const saveParts = () => {
    const money = isRate ? ['refundedUsd', 'confirmedUsd'] : []
    saveCsv(
      `${name}-parts-${kpi.startDate}-${kpi.endDate}.csv`,
      ['part', ...money, isRate ? 'rate' : 'value'],
      kpi.parts.map((part) => [part.name, ...(isRate ? [part.refundedUsd ?? 0, part.confirmedUsd ?? 0] : []), part.value]),
    )
  }
  return (
    <Section title={t('parts')} actions={kpi.parts.length > 0 && <Button icon="download" onPress={saveParts} text={t('downloadParts')} />}>
      {kpi.parts.length === 0 ? (
        <p class="hint">{t('noParts')}</p>
      ) : (
        <Table caption={t(`by.${name}`)} columns={columns} rows={kpi.parts} rowKey={({ name: part }) => part} />
      )}
    </Section>
  )
}
