import { t } from 'elysia'
import { Instant, integer, nullable, oneOf, text } from '../../../http/schema.ts'
import { ChainRecord } from '../../trust/attestation/model.ts'
import { runsKept } from './domain.ts'

const Time = nullable(Instant)

const JobRun = t.Object(
  {
    startedAt: Instant,
    endedAt: Time,
    durationMs: nullable(integer({ minimum: 0, description: 'In milliseconds' })),
    result: oneOf(['OK', 'FAILED', 'LOST'], {
      description: '`LOST`: the process ended or stopped during the run',
    }),
    error: nullable(t.String({ description: 'Start of the error message, without secrets' })),
  },
  { title: 'JobRun' },
)

const JobRecord = t.Object(
  {
    name: t.String(),
    state: oneOf(['idle', 'running', 'stuck', 'off'], {
      description:
        '`stuck`: a run takes longer than three times the interval (at least 5 minutes, at most 6 hours). `off`: the job has no schedule',
    }),
    idleBecause: nullable(t.String({ description: 'The setting because of which the job has nothing to do. Null if it has something' })),
    everyProcess: t.Boolean({ description: 'True: every process runs the job. False: one process at a time' }),
    holder: nullable(t.String({ description: 'The process that runs the job. Null if every process does, or none yet' })),
    schedule: nullable(t.String({ description: 'Six fields from second to weekday, UTC. Null: no schedule' })),
    lastRun: nullable(JobRun),
    lastRuns: t.Array(JobRun, {
      maxItems: runsKept.last + runsKept.failed,
      description: `The last ${runsKept.last} runs, newest first, and up to ${runsKept.failed} earlier runs that were not \`OK\`, with a shortened \`error\`. If every process runs the job, runs of all processes; those of others may be a minute old`,
    }),
    lastSuccessAt: Time,
    runningSince: Time,
    nextRun: Time,
    requestedAt: nullable(t.String({ format: 'date-time', description: 'True if a requested run has not started' })),
  },
  { title: 'Job' },
)

export const JobRecords = t.Object({
  data: t.Array(JobRecord),
  chains: t.Array(ChainRecord, {
    description: 'Progress of each chain in `CHAINS`, by its id. Chains that were never read are left out',
  }),
})

export const JobParam = t.Object({ job: text(64) })
export const JobRequested = t.Object({ name: t.String(), requestedAt: Instant }, { title: 'JobRequest' })
