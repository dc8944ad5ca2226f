import { expect, test } from 'bun:test'
import { createRequestCounts } from '../../src/http/metrics.ts'

test('requests are counted by route and status, and unused routes have no series', () => {
  const counts = createRequestCounts(() => 0)
  counts.of('GET', '/never')
  const cart = counts.of('GET', '/cart/:id')
  for (const [status, ms] of [
    [200, 0.5],
    [200, 1],
    [404, 20_000],
  ] as const) {
    counts.started()
    counts.finished(cart, status, ms)
  }
  const lines = counts.lines().filter((line) => !line.startsWith('#'))
  expect(lines.slice(0, 4)).toEqual([
    'souk_http_requests_total{method="GET",route="/cart/:id",status="200"} 2',
    'souk_http_requests_total{method="GET",route="/cart/:id",status="404"} 1',
    'souk_http_request_duration_seconds_bucket{method="GET",route="/cart/:id",le="0.001"} 2',
    'souk_http_request_duration_seconds_bucket{method="GET",route="/cart/:id",le="0.002"} 2',
  ])
  expect(lines.slice(-6, -3)).toEqual([
    'souk_http_request_duration_seconds_bucket{method="GET",route="/cart/:id",le="+Inf"} 3',
    'souk_http_request_duration_seconds_sum{method="GET",route="/cart/:id"} 20.0015',
    'souk_http_request_duration_seconds_count{method="GET",route="/cart/:id"} 3',
  ])
  expect([counts.inFlight(), counts.activityCount()]).toEqual([0, 6])
})

test('unknown methods are counted as one', () => {
  const counts = createRequestCounts(() => 0)
  expect(counts.of('BREW', '/cart/:id')).toBe(counts.of('PROPFIND', '/cart/:id'))
  expect(counts.of('GET')).not.toBe(counts.of('OTHER'))
})
