import { expect, test } from 'bun:test'
import { counter, gauge, histogram, labelledMetric } from '../../src/lib/prometheus.ts'

test('a metric is written after its help and type', () => {
  expect(gauge('souk_up', 'Whether it is up.', 1)).toEqual(['# HELP souk_up Whether it is up.', '# TYPE souk_up gauge', 'souk_up 1'])
  expect(counter('souk_done_total', 'How many.', 2)).toEqual([
    '# HELP souk_done_total How many.',
    '# TYPE souk_done_total counter',
    'souk_done_total 2',
  ])
})

test('label values are escaped', () => {
  expect(labelledMetric('souk_up', 'Up.', [{ labels: { what: 'a "b" \\ \n' }, value: 1 }]).at(-1)).toBe(
    'souk_up{what="a \\"b\\" \\\\ \\n"} 1',
  )
})

test('a histogram has cumulative buckets and the total last', () => {
  const series = [{ labels: {}, buckets: [2, 0, 1], sum: 1.5 }]
  expect(histogram('souk_wait_seconds', 'Waits.', [0.1, 1], series)).toEqual([
    '# HELP souk_wait_seconds Waits.',
    '# TYPE souk_wait_seconds histogram',
    'souk_wait_seconds_bucket{le="0.1"} 2',
    'souk_wait_seconds_bucket{le="1"} 2',
    'souk_wait_seconds_bucket{le="+Inf"} 3',
    'souk_wait_seconds_sum 1.5',
    'souk_wait_seconds_count 3',
  ])
})
