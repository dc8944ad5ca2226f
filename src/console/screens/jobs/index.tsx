import { api, ok, type Schema } from '../../lib/api.ts'
import { moment } from '../../lib/format.ts'
import { useLive } from '../../lib/live.ts'
import { useResource } from '../../lib/resource.ts'
import { State, When } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Loaded, Page } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { notify } from '../../ui/toast.tsx'
import { w } from './words.ts'

type Job = Schema<'Job'>

const stateTones = { idle: 'plain', running: 'info', stuck: 'bad', off: 'plain' } as const
const resultTones = { OK: 'good', FAILED: 'bad', LOST: 'warn' } as const

export default function Jobs() {
  const jobs = useResource('jobs', (signal) => ok(api.GET('/admin/operations/jobs', { signal })))
  // Where nothing tells of them, one that was asked to run is looked at until it has.
  useLive(['job.*'], jobs.reload)
  async function run(name: string): Promise<void> {
    await ok(api.POST('/admin/operations/jobs/{job}/run', { params: { path: { job: name } } }))
    notify(w('asked', { name }))
    await jobs.reload()
  }
  return (
    <Page title={w('title')}>
      <Loaded of={jobs}>
        {({ data }) => (
          <Table
            caption={w('title')}
            rows={data}
            rowKey={({ name }) => name}
            columns={[
              { key: 'name', title: w('job'), main: true, cell: ({ name }) => <code>{name}</code> },
              {
                key: 'state',
                title: w('state'),
                cell: ({ state, idleBecause, requestedAt, runningSince }) => (
                  <span>
                    <State of={state} text={w(state)} tone={stateTones[state]} />
                    {runningSince && (
                      <small class="faint">
                        {' '}
                        <When at={runningSince} short />
                      </small>
                    )}
                    {state !== 'running' && requestedAt && <small class="faint"> {w('asks', { at: moment(requestedAt) })}</small>}
                    {idleBecause && (
                      <small class="faint">
                        {' '}
                        <bdi>{idleBecause}</bdi>
                      </small>
                    )}
                  </span>
                ),
              },
              { key: 'last', title: w('last'), cell: ({ lastRun, lastSuccessAt }) => <LastRun of={lastRun} successAt={lastSuccessAt} /> },
              { key: 'took', title: w('took'), end: true, cell: ({ lastRun }) => lastRun?.durationMs != null && took(lastRun.durationMs) },
              { key: 'next', title: w('next'), cell: ({ nextRun, schedule }) => <Next at={nextRun} schedule={schedule} /> },
              {
                key: 'run',
                title: '',
                end: true,
                cell: ({ name, state }) => (
                  <Button label={w('runOf', { name })} disabled={state === 'running'} onPress={() => run(name)}>
                    {w('run')}
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Page>
  )
}

const took = (ms: number): string => w('seconds', { n: Math.round(ms / 100) / 10 })

function LastRun({ of, successAt }: { of: Job['lastRun']; successAt: string | null }) {
  if (!of) return <span class="faint">{w('never')}</span>
  return (
    <span>
      <State of={of.result} text={w(of.result)} tone={resultTones[of.result]} /> <When at={of.startedAt} short />
      {of.error && (
        <small class="faint">
          {' '}
          <bdi>{of.error}</bdi>
        </small>
      )}
      {of.result !== 'OK' && successAt && (
        <small class="faint">
          {' '}
          {w('success')}: <When at={successAt} short />
        </small>
      )}
    </span>
  )
}

const Next = ({ at, schedule }: { at: string | null; schedule: string | null }) => (
  <span>
    {at ? <When at={at} short /> : '–'}
    {schedule && (
      <small class="faint">
        {' '}
        <code>{schedule}</code>
      </small>
    )}
  </span>
)
