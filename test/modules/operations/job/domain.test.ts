import { expect, test } from 'bun:test'
import type { JobRun } from '../../../../db/schema/jobs.ts'
import { mergedRuns, runsKept, runsOf } from '../../../../src/modules/operations/job/domain.ts'

const run = (startedAt: number): JobRun => ({ startedAt, endedAt: startedAt + 1, durationMs: 1, result: 'OK', error: null })

test('the last run of a row comes first among its runs, also if an older version stored it alone', () => {
  expect(runsOf({ ...run(1), lastRuns: null })).toEqual([run(1)])
  expect(runsOf({ ...run(3), lastRuns: [run(2), run(1)] })).toEqual([run(3), run(2), run(1)])
  expect(runsOf({ ...run(2), lastRuns: [run(2), run(1)] })).toEqual([run(2), run(1)])
  expect(runsOf({ startedAt: null, endedAt: null, durationMs: null, result: null, error: null, lastRuns: null })).toEqual([])
})

test('runs of several processes are merged, each once, newest first, up to the limit of one process', () => {
  const failed = (startedAt: number): JobRun => ({ ...run(startedAt), result: 'FAILED', error: 'x'.repeat(900) })
  expect(mergedRuns([run(4), run(2)], [run(3), run(2), run(1)]).map(({ startedAt }) => startedAt)).toEqual([4, 3, 2, 1])
  // Two runs that began at the same time are distinct.
  expect(mergedRuns([run(1)], [failed(1)])).toHaveLength(2)
  expect(mergedRuns([failed(1)], [failed(1)])[0]?.error).toHaveLength(200)
  const many = (from: number) => Array.from({ length: 20 }, (_, nth) => (nth % 4 ? run : failed)(from - 2 * nth))
  const merged = mergedRuns(many(100), many(99))
  expect(merged.slice(0, runsKept.last).map(({ startedAt }) => startedAt)).toEqual(Array.from({ length: 15 }, (_, nth) => 100 - nth))
  expect(merged.slice(runsKept.last).map(({ result }) => result)).toEqual(Array(runsKept.failed).fill('FAILED'))
  // The process's own run need not be the newest.
  expect(runsOf({ ...run(1), lastRuns: [run(2), run(1)] })).toEqual([run(2), run(1)])
})
