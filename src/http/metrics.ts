/** Counts what the boundary sees of requests, for /metrics. */
import { gauge, histogram, labelled } from '../lib/prometheus.ts'

const methods = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'] as const
const boundsMs = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000]
/** What is counted of requests that no route answers. */
const noRoute = 'none'

/** What is counted of one method of one route, which has a slot here for as long as the process runs. */
export type RouteCounts = {
  readonly method: string
  /** As it was declared: `/cart/:id`. */
  readonly route: string
  /** Those that were answered, and how often each: side by side, since a route has few. */
  readonly statuses: number[]
  readonly answers: number[]
  /** How many took no longer than each bound and longer than the one before; the last ones longer than all. */
  readonly buckets: number[]
  sumMs: number
}

/** How late a timer of the event loop may come. */
const lagBoundsMs = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000]

/** The bucket of a value. */
function bucketOf(bounds: readonly number[], value: number): number {
  let at = 0
  while (at < bounds.length && value > (bounds[at] as number)) at++
  return at
}
const inSeconds = (boundsMs: readonly number[]): number[] => boundsMs.map((ms) => ms / 1_000)

/** How late the event loop was whenever somebody looked. */
export type LoopLag = ReturnType<typeof createLoopLag>
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
 * Counters of one server: by method, route and status, and by how long it took. All that grows with time is numbers; what there is to
 * count is as much as there are routes, whatever somebody asks for.
 * @param monotonicMs milliseconds of a clock that only goes forward
 */
export function createRequestCounts(monotonicMs: () => number = () => performance.now()) {
  const startedAt = monotonicMs()
  const slots = new Map<string, Map<string, RouteCounts>>(methods.map((method) => [method, new Map()]))
  const others = new Map<string, RouteCounts>()
  slots.set('OTHER', others)
  let inFlight = 0
  let seen = 0
  let startedCount = 0

  return {
    started(): void {
      inFlight++
      startedCount++
      seen++
    },
    /**
     * Where requests of a method and a route are counted.
     * @param route as it was declared, never as it was requested; undefined: none answers
     */
    of(method: string, route: string = noRoute): RouteCounts {
      const known = slots.get(method)
      const ofMethod = known ?? others
      const found = ofMethod.get(route)
      if (found) return found
      const buckets = new Array<number>(boundsMs.length + 1).fill(0)
      const made = { method: known ? method : 'OTHER', route, statuses: [], answers: [], buckets, sumMs: 0 }
      ofMethod.set(route, made)
      return made
    },
    finished(counts: RouteCounts, status: number, elapsedMs: number): void {
      inFlight--
      seen++
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
    /** The number of requests that started. */
    startedCount: () => startedCount,
    /** A counter that each start and each end of a request increases. */
    seen: () => seen,
    /** Lines in Prometheus' text format: of the routes that were requested. */
    lines(): string[] {
      const all = [...slots.values()].flatMap((ofMethod) => [...ofMethod.values()]).filter(({ statuses }) => statuses.length > 0)
      return [
        ...labelled(
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
