/** Metrics of requests, for /metrics. */
import { gauge, histogram, labelledMetric } from '../lib/prometheus.ts'

const methods = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'] as const
const boundsMs = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000]
/** Label of requests that match no route. */
const noRoute = 'none'

/** Counters of one method of one route; created once and kept. */
type RouteCounts = {
  readonly method: string
  /** The declared route, such as `/cart/:id`. */
  readonly route: string
  /** Statuses and how often each occurred: parallel arrays, because a route has few. */
  readonly statuses: number[]
  readonly answers: number[]
  /** Histogram of durations; the last bucket has no bound. */
  readonly buckets: number[]
  sumMs: number
}

/** Buckets of the event loop lag. */
const lagBoundsMs = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000]

/** The bucket of a value. */
function bucketOf(bounds: readonly number[], value: number): number {
  let at = 0
  while (at < bounds.length && value > (bounds[at] as number)) at++
  return at
}
const inSeconds = (boundsMs: readonly number[]): number[] => boundsMs.map((ms) => ms / 1_000)

/** Measures the lag of the event loop. */
export type LoopLag = ReturnType<typeof createLoopLag>
/** Creates the histogram of one process. `note` takes milliseconds. */
export function createLoopLag() {
  const buckets = new Array<number>(lagBoundsMs.length + 1).fill(0)
  let sumMs = 0
  return {
    note(lateMs: number): void {
      const late = Math.max(0, lateMs)
      ;(buckets[bucketOf(lagBoundsMs, late)] as number)++
      sumMs += late
    },
    /** Lines in Prometheus' text format. */
    lines: (): string[] =>
      histogram('souk_event_loop_lag_seconds', 'How late the event loop came to a timer, four times a second.', inSeconds(lagBoundsMs), [
        { labels: {}, buckets, sum: sumMs / 1_000 },
      ]),
  }
}

export type RequestCounts = ReturnType<typeof createRequestCounts>

/**
 * Counts requests by method, route, status and duration. The memory is bounded by the number of routes.
 * @param monotonicMs monotonic milliseconds
 */
export function createRequestCounts(monotonicMs: () => number = () => performance.now()) {
  const startedAt = monotonicMs()
  const slots = new Map<string, Map<string, RouteCounts>>(methods.map((method) => [method, new Map()]))
  const others = new Map<string, RouteCounts>()
  slots.set('OTHER', others)
  let inFlight = 0
  let lastTotal = 0
  let startedCount = 0

  return {
    started(): void {
      inFlight++
      startedCount++
      lastTotal++
    },
    /**
     * Returns the counters of a method and route.
     * @param route the declared route; undefined if none matches
     */
    of(method: string, route: string = noRoute): RouteCounts {
      const methodSlots = slots.get(method)
      const ofMethod = methodSlots ?? others
      const found = ofMethod.get(route)
      if (found) return found
      const buckets = new Array<number>(boundsMs.length + 1).fill(0)
      const made = { method: methodSlots ? method : 'OTHER', route, statuses: [], answers: [], buckets, sumMs: 0 }
      ofMethod.set(route, made)
      return made
    },
    finished(counts: RouteCounts, status: number, elapsedMs: number): void {
      inFlight--
      lastTotal++
      const { statuses, answers, buckets } = counts
      counts.sumMs += elapsedMs
      ;(buckets[bucketOf(boundsMs, elapsedMs)] as number)++
      const which = statuses.indexOf(status)
      if (which >= 0) (answers[which] as number)++
      else {
        statuses.push(status)
        answers.push(1)
      }
    },
    inFlight: () => inFlight,
    /** Number of started requests. */
    startedCount: () => startedCount,
    /** A counter that increases with each start and end of a request. */
    activityCount: () => lastTotal,
    /** Lines in Prometheus' text format, for requested routes. */
    lines(): string[] {
      const all = [...slots.values()].flatMap((ofMethod) => [...ofMethod.values()]).filter(({ statuses }) => statuses.length > 0)
      return [
        ...labelledMetric(
          'souk_http_requests_total',
          'Requests answered.',
          all.flatMap(({ method, route, statuses, answers }) =>
            statuses.map((status, at) => ({ labels: { method, route, status: String(status) }, value: answers[at] ?? 0 })),
          ),
          'counter',
        ),
        ...histogram(
          'souk_http_request_duration_seconds',
          'Time from request to answer.',
          inSeconds(boundsMs),
          all.map(({ method, route, buckets, sumMs }) => ({ labels: { method, route }, buckets, sum: sumMs / 1_000 })),
        ),
        ...gauge('souk_http_requests_in_flight', 'Requests being answered.', inFlight),
        ...gauge('souk_uptime_seconds', 'Since the start, by a clock that nobody sets.', (monotonicMs() - startedAt) / 1000),
        ...gauge('process_start_time_seconds', 'When the process started, in seconds since 1970.', performance.timeOrigin / 1000),
      ]
    },
  }
}
