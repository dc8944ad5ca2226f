/** Counts what the boundary sees of requests, for /metrics. */
import { gauge } from '../lib/prometheus.ts'

const methods = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const
const bucketsMs = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000]

export type RequestCounts = ReturnType<typeof createRequestCounts>

/**
 * Counters of one server: by method and status, and by how long it took.
 * @param monotonicMs milliseconds of a clock that only goes forward
 */
export function createRequestCounts(monotonicMs: () => number = () => performance.now()) {
  const startedAt = monotonicMs()
  /** By method, then by status. */
  const requests = new Map<string, Map<number, number>>(methods.map((method) => [method, new Map()]))
  const other = new Map<number, number>()
  requests.set('OTHER', other)
  const buckets = new Array<number>(bucketsMs.length + 1).fill(0)
  let sumMs = 0
  let inFlight = 0
  let seen = 0

  return {
    started(): void {
      inFlight++
      seen++
    },
    finished(method: string, status: number, elapsedMs: number): void {
      inFlight--
      seen++
      sumMs += elapsedMs
      let at = 0
      while (at < bucketsMs.length && elapsedMs > (bucketsMs[at] ?? 0)) at++
      buckets[at] = (buckets[at] ?? 0) + 1
      const counts = requests.get(method) ?? other
      counts.set(status, (counts.get(status) ?? 0) + 1)
    },
    inFlight: () => inFlight,
    /** Goes up with every request that begins or is answered. */
    seen: () => seen,
    /** Lines in Prometheus' text format. */
    lines(): string[] {
      const lines = ['# HELP souk_http_requests_total Requests answered.', '# TYPE souk_http_requests_total counter']
      for (const [method, counts] of requests) {
        for (const [status, count] of counts) lines.push(`souk_http_requests_total{method="${method}",status="${status}"} ${count}`)
      }
      lines.push(
        '# HELP souk_http_request_duration_seconds Time from request to answer.',
        '# TYPE souk_http_request_duration_seconds histogram',
      )
      let total = 0
      bucketsMs.forEach((most, at) => {
        total += buckets[at] ?? 0
        lines.push(`souk_http_request_duration_seconds_bucket{le="${most / 1000}"} ${total}`)
      })
      total += buckets[bucketsMs.length] ?? 0
      lines.push(
        `souk_http_request_duration_seconds_bucket{le="+Inf"} ${total}`,
        `souk_http_request_duration_seconds_sum ${sumMs / 1000}`,
        `souk_http_request_duration_seconds_count ${total}`,
      )
      return [
        ...lines,
        ...gauge('souk_http_requests_in_flight', 'Requests being answered.', inFlight),
        ...gauge('souk_uptime_seconds', 'Since the start, by a clock that nobody sets.', (monotonicMs() - startedAt) / 1000),
        ...gauge('process_start_time_seconds', 'When the process started, in seconds since 1970.', performance.timeOrigin / 1000),
      ]
    },
  }
}
