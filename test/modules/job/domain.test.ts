import { expect, test } from 'bun:test'
import type { JobRun } from '../../../db/schema/jobs.ts'
import { runsOf } from '../../../src/modules/job/domain.ts'

const run = (startedAt: number): JobRun => ({ startedAt, endedAt: startedAt + 1, durationMs: 1, result: 'OK', error: null })

test('the last run of a row is the first of its runs, also where a process of an older version noted it alone', () => {
  expect(runsOf({ ...run(1), lastRuns: null })).toEqual([run(1)])
  expect(runsOf({ ...run(3), lastRuns: [run(2), run(1)] })).toEqual([run(3), run(2), run(1)])
  expect(runsOf({ ...run(2), lastRuns: [run(2), run(1)] })).toEqual([run(2), run(1)])
  expect(runsOf({ startedAt: null, endedAt: null, durationMs: null, result: null, error: null, lastRuns: null })).toEqual([])
})
