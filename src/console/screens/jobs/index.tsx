import { useState } from 'preact/hooks'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { duration, moment } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload, useVisibleInterval } from '../../lib/live/live-events.ts'
import { notify } from '../../lib/live/toasts.ts'
import { Button } from '../../ui/button.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Note } from '../../ui/note.tsx'
import { Page, ResourceView } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Table } from '../../ui/table.tsx'
import { t } from './i18n.ts'

type Job = Schema<'Job'>

const stateTones = { idle: 'plain', running: 'info', stuck: 'bad', off: 'plain' } as const
const resultTones = { OK: 'good', FAILED: 'bad', LOST: 'warn' } as const

/** Poll intervals, normally and while a requested run is active. */
const pollMs = 10_000
const pollRunningMs = 1_500

export default function Jobs() {
  const jobs = useResource('jobs', (signal) => ok(api.GET('/admin/operations/jobs', { signal })))
  useLiveReload(['job.*'], jobs.reload, undefined, 1_000)
  // Most runs send no event.
  const isRunRequested = jobs.data.value?.data.some(({ state, requestedAt }) => state === 'running' || requestedAt !== null) ?? false
  useVisibleInterval(isRunRequested ? pollRunningMs : pollMs, jobs.reload)
  const sendOnce = useIdempotentSend()
  async function run(name: string): Promise<void> {
    await sendOnce(name, (header) => ok(api.POST('/admin/operations/jobs/{job}/run', { params: { path: { job: name }, header } })))
    notify(t('asked', { name }))
    await jobs.reload()
  }
  return (
    <Page title={common('jobs')}>
      <ResourceView resource={jobs}>
        {({ data }) => (
          <>
            <JobProblems jobs={data} />
            <Table
              caption={common('jobs')}
              rows={data}
              rowKey={({ name }) => name}
              columns={[
                { title: t('job'), main: true, cell: ({ name }) => <JobName name={name} /> },
                {
                  title: common('status'),
                  cell: ({ state, idleBecause, requestedAt, runningSince }) => (
                    <span>
                      <StatusBadge status={state} text={t(state)} tone={stateTones[state]} />
                      {runningSince && (
                        <small class="faint">
                          {' '}
                          <Moment at={runningSince} relative />
                        </small>
                      )}
                      {state !== 'running' && requestedAt && <small class="faint"> {t('asks', { at: moment(requestedAt) })}</small>}
                      {idleBecause && (
                        <small class="faint">
                          {' '}
                          <bdi>{idleBecause}</bdi>
                        </small>
                      )}
                    </span>
                  ),
                },
                { title: t('last'), cell: (job) => <LastRun job={job} /> },
                { title: t('took'), alignEnd: true, cell: ({ lastRun }) => lastRun?.durationMs != null && duration(lastRun.durationMs) },
                { title: t('next'), cell: (job) => <NextRun job={job} /> },
                {
                  title: common('actions'),
                  alignEnd: true,
                  cell: ({ name, state, idleBecause }) => (
                    <Button
                      label={t('runOf', { name })}
                      disabled={idleBecause !== null}
                      busy={state === 'running'}
                      onPress={() => run(name)}
                      text={t('run')}
                    />
                  ),
                },
              ]}
            />
          </>
        )}
      </ResourceView>
    </Page>
  )
}

/** A job with its description. */
function JobName({ name }: { name: string }) {
  const description = t.find(`does.${name}`)
  return (
    <span class="lines">
      <code>{name}</code>
      {description && <small class="faint">{description}</small>}
    </span>
  )
}

/** Lists stuck and failed jobs above the table. */
function JobProblems({ jobs }: { jobs: readonly Job[] }) {
  const stuck = jobs.filter(({ state }) => state === 'stuck')
  const failed = jobs.filter(({ state, lastRun }) => state !== 'stuck' && lastRun !== null && lastRun.result !== 'OK')
  const names = (jobs: readonly Job[]) => <code>{jobs.map(({ name }) => name).join(', ')}</code>
  return (
    <>
      {stuck.length > 0 && (
        <Note tone="bad">
          {t('areStuck', { n: stuck.length })} {names(stuck)}
        </Note>
      )}
      {failed.length > 0 && (
        <Note tone="warn">
          {t('haveFailed', { n: failed.length })} {names(failed)}
        </Note>
      )}
    </>
  )
}

function LastRun({ job: { name, lastRun, lastRuns, lastSuccessAt } }: { job: Job }) {
  if (!lastRun) return <span class="faint">{t('never')}</span>
  return (
    <span class="lines">
      <JobRun run={lastRun} />
      {lastRun.result !== 'OK' && lastSuccessAt && (
        <small class="faint">
          {t('success')}: <Moment at={lastSuccessAt} relative />
        </small>
      )}
      {lastRuns.length > 1 && <EarlierRuns name={name} runs={lastRuns.slice(1)} />}
    </span>
  )
}

/** Draws earlier runs on demand, because there are many jobs. */
function EarlierRuns({ name, runs }: { name: string; runs: Job['lastRuns'] }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {t('before', { n: runs.length })}
        <span class="unseen"> {name}</span>
      </summary>
      {isOpen && (
        <ul class="changes" aria-label={t('runsOf', { name })}>
          {runs.map((run, index) => (
            <li key={`${run.startedAt} ${index}`}>
              <JobRun run={run} withTime />
            </li>
          ))}
        </ul>
      )}
    </details>
  )
}

/**
 * The result of a run.
 * @param withTime with duration and full timestamp
 */
const JobRun = ({ run, withTime }: { run: Job['lastRuns'][number]; withTime?: boolean }) => (
  <span class="lines">
    <span>
      <StatusBadge status={run.result} text={t(run.result)} tone={resultTones[run.result]} />
    </span>
    <span>
      <Moment at={run.startedAt} {...(!withTime && { relative: true })} />
      {withTime && run.durationMs !== null && <small class="faint"> {duration(run.durationMs)}</small>}
    </span>
    {run.error && (
      <small class="faint">
        <bdi>{run.error}</bdi>
      </small>
    )}
  </span>
)

const NextRun = ({ job: { nextRun, schedule, everyProcess } }: { job: Job }) => (
  <span class="lines">
    <span>{nextRun ? <Moment at={nextRun} relative /> : '–'}</span>
    {schedule && (
      <small class="faint">
        <code>{schedule}</code>
      </small>
    )}
    {everyProcess && <small class="faint">{t('every')}</small>}
  </span>
)
