import { api, ok } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { number } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload, useVisibleInterval } from '../../lib/live/live-events.ts'
import { Moment } from '../../ui/moment.tsx'
import { AsOfNote } from '../../ui/note.tsx'
import { EmptyState, Page, ResourceView, Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Table } from '../../ui/table.tsx'
import { t } from './i18n.ts'

const tones = { steady: 'good', rolling: 'info', degraded: 'bad', unknown: 'plain' } as const

/** The server refreshes its providers at this interval. */
const pollMs = 60_000

export default function Operations() {
  return (
    <Page title={common('operations')}>
      <Services />
      <Errors />
      <Deploys />
    </Page>
  )
}

function Services() {
  const services = useResource('services', (signal) => ok(api.GET('/admin/operations/services', { signal })))
  useVisibleInterval(pollMs, services.reload)
  useLiveReload(['deploy.*'], services.reload)
  return (
    <Section title={t('services')}>
      <ResourceView resource={services}>
        {({ asOf, stale, services: rows }) => (
          <>
            <AsOfNote at={asOf} stale={stale} />
            {rows.length === 0 ? (
              <EmptyState icon="server" title={t('noServices')} />
            ) : (
              <Table
                caption={t('services')}
                rows={rows}
                rowKey={({ service }) => service}
                columns={[
                  { title: t('service'), main: true, cell: ({ service }) => <bdi>{service}</bdi> },
                  { title: common('status'), cell: ({ state }) => <StatusBadge status={state} text={t(state)} tone={tones[state]} /> },
                  { title: t('running'), alignEnd: true, cell: ({ running }) => number(running) },
                  { title: t('desired'), alignEnd: true, cell: ({ desired }) => number(desired) },
                  { title: t('pending'), alignEnd: true, cell: ({ pending }) => number(pending) },
                  { title: t('revision'), cell: ({ revision }) => <code>{revision}</code> },
                ]}
              />
            )}
          </>
        )}
      </ResourceView>
    </Section>
  )
}

function Errors() {
  const errors = useResource('errors', (signal) => ok(api.GET('/admin/operations/sentry-summary', { signal })))
  useVisibleInterval(pollMs, errors.reload)
  return (
    <ResourceView resource={errors}>
      {({ asOf, stale, windowHours, projects }) => (
        <Section title={t('errors', { n: windowHours })}>
          <AsOfNote at={asOf} stale={stale} />
          {projects.every(({ events }) => events === 0) && <EmptyState icon="check" title={t('quiet')} text={t('quietText')} />}
          {projects
            .filter(({ events }) => events > 0)
            .map(({ project, events, unresolved, top }) => (
              <section key={project} aria-label={project}>
                <h3>
                  <bdi>{project}</bdi>
                </h3>
                <p class="hint">
                  {t('events')}: {number(events)} · {t('unresolved')}: {number(unresolved)}
                </p>
                <Table
                  caption={project}
                  rows={top}
                  rowKey={({ id }) => id}
                  columns={[
                    { title: t('errors', { n: windowHours }), main: true, cell: ({ title }) => <bdi>{title}</bdi> },
                    { title: t('events'), alignEnd: true, cell: ({ count }) => number(count) },
                    { title: t('last'), cell: ({ lastSeen }) => <Moment at={lastSeen} relative /> },
                  ]}
                />
              </section>
            ))}
        </Section>
      )}
    </ResourceView>
  )
}

function Deploys() {
  const deploys = useResource('deploys', (signal) => ok(api.GET('/admin/operations/deploys/latest', { signal })))
  useVisibleInterval(pollMs, deploys.reload)
  return (
    <Section title={t('deploys')}>
      <ResourceView resource={deploys}>
        {({ asOf, stale, deploys: rows }) => (
          <>
            <AsOfNote at={asOf} stale={stale} />
            {rows.length === 0 ? (
              <EmptyState icon="upload" title={t('noDeploys')} />
            ) : (
              <Table
                caption={t('deploys')}
                rows={rows}
                rowKey={({ service, environment, revision }) => `${service} ${environment} ${revision}`}
                columns={[
                  { title: t('service'), main: true, cell: ({ service }) => <bdi>{service}</bdi> },
                  { title: t('environment'), cell: ({ environment }) => <bdi>{environment}</bdi> },
                  { title: t('revision'), cell: ({ revision }) => <code>{revision}</code> },
                  { title: t('deployed'), cell: ({ deployedAt }) => <Moment at={deployedAt} /> },
                  { title: common('change'), cell: ({ change }) => change && <DeployChange change={change} /> },
                ]}
              />
            )}
          </>
        )}
      </ResourceView>
    </Section>
  )
}

/** Links a URL only if it is HTTP(S), because a provider's response is foreign text. */
const DeployChange = ({ change: { title, author, url } }: { change: { title: string; author: string; url: string } }) => (
  <span>
    {/^https?:\/\//.test(url) ? (
      <a href={url} target="_blank" rel="noreferrer">
        <bdi>{title}</bdi>
      </a>
    ) : (
      <bdi>{title}</bdi>
    )}{' '}
    <small class="faint">
      <bdi>{author}</bdi>
    </small>
  </span>
)
