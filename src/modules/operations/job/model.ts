import { t } from 'elysia'
import { Instant, integer, nullable, oneOf, text } from '../../../http/schema.ts'
import { ChainRecord } from '../../trust/attestation/model.ts'
import { runsKept } from './domain.ts'

const Time = nullable(Instant)

const JobRun = t.Object(
  {
    startedAt: Instant,
    endedAt: Time,
    durationMs: nullable(integer({ minimum: 0, description: 'Milliseconds.' })),
    result: oneOf(['OK', 'FAILED', 'LOST'], {
      description: '`LOST`: the process that ran it ended, or stood still, before it was done.',
    }),
    error: nullable(t.String({ description: 'What it failed with, in its first words, without secrets.' })),
  },
  { title: 'JobRun' },
)

export const JobRecord = t.Object(
  {
    name: t.String(),
    state: oneOf(['idle', 'running', 'stuck', 'off'], {
      description:
        '`stuck`: a run takes longer than three times what lies between two runs (at least 5 minutes, at most 6 hours). `off`: it does not run by itself.',
    }),
    idleBecause: nullable(t.String({ description: 'The setting by which it has nothing to do; null where it has something.' })),
    everyProcess: t.Boolean({ description: 'Each process on the database runs it; of other jobs, one process at a time.' }),
    holder: nullable(t.String({ description: 'The process that runs it; null where each does, or nobody yet.' })),
    schedule: nullable(t.String({ description: 'Six fields from second to weekday, UTC; null: switched off.' })),
    lastRun: nullable(JobRun),
    lastRuns: t.Array(JobRun, {
      maxItems: runsKept.last + runsKept.wrong,
      description: `The last ${runsKept.last} runs, the newest first, and up to ${runsKept.wrong} from before that were not \`OK\`; an \`error\` of them in short. Of a job that each process runs they are of all processes, those of others as of a minute ago.`,
    }),
    lastSuccessAt: Time,
    runningSince: Time,
    nextRun: Time,
    requestedAt: nullable(t.String({ format: 'date-time', description: 'Somebody asked for a run, which has not begun.' })),
  },
  { title: 'Job' },
)

export const JobRecords = t.Object({
  data: t.Array(JobRecord),
  chains: t.Array(ChainRecord, {
    description: 'How far each chain of `CHAINS` is read, by its id; one of which nothing was read has no entry.',
  }),
})

export const JobParam = t.Object({ job: text(64) })
export const JobRequested = t.Object({ name: t.String(), requestedAt: Instant }, { title: 'JobRequested' })
