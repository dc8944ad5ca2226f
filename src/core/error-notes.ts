import { hourMs } from '../lib/day.ts'
import type { Log } from '../lib/log.ts'
import { sha256 } from '../lib/seal.ts'

/** Errors of one kind within one UTC hour. `hour` and `lastSeen`: milliseconds since the epoch. */
export type ErrorNote = {
  readonly fingerprint: string
  readonly hour: number
  readonly title: string
  readonly count: number
  readonly lastSeen: number
}
/** Counts of the errors that the process logged. */
export type ErrorNotes = {
  /** Returns the counts since the last call, and resets them. */
  take(): ErrorNote[]
  /** Lines of each event since the process started. */
  counts(): [event: string, count: number][]
  /** Adds counts back that could not be stored. */
  restore(notes: readonly ErrorNote[]): void
}

/** Kinds within an hour. Further ones are counted together. */
const kindsMax = 200
const titleMax = 200
/** Events of alarms start at 0, so that Prometheus sees the first increase. */
const seen: readonly [string, number][] = [
  ['kpis.differ', 0],
  ['backup.documents_missing', 0],
  ['backup.document_damaged', 0],
]
const other = 'other errors'
/** Log fields that identify a part of the program. */
const parts = ['job', 'lane', 'method', 'route', 'processor'] as const

/**
 * Wraps a log so that its errors are counted in memory; a job stores the counts.
 * @param now milliseconds since the epoch
 */
export function countErrors(log: Log, now: () => number): { log: Log; notes: ErrorNotes } {
  const kinds = new Map<string, ErrorNote>()
  const counts = new Map<string, number>(seen)
  const current = { hour: 0, titles: new Set<string>() }

  function count({ title, hour, count: more, lastSeen }: Omit<ErrorNote, 'fingerprint'>): void {
    const key = `${hour} ${title}`
    const before = kinds.get(key)
    kinds.set(key, {
      fingerprint: before?.fingerprint ?? sha256(title).slice(0, 16),
      hour,
      title,
      count: (before?.count ?? 0) + more,
      lastSeen: Math.max(before?.lastSeen ?? 0, lastSeen),
    })
  }

  function note(event: string, fields: Record<string, unknown>): void {
    const at = now()
    const hour = at - (at % hourMs)
    if (current.hour !== hour) {
      current.hour = hour
      current.titles.clear()
    }
    const title = titleOf(event, fields)
    const isCounted = current.titles.has(title) || current.titles.size < kindsMax
    if (isCounted) current.titles.add(title)
    count({ title: isCounted ? title : other, hour, count: 1, lastSeen: at })
  }

  return {
    log: {
      ...log,
      error(event, fields = {}) {
        log.error(event, fields)
        counts.set(event, (counts.get(event) ?? 0) + 1)
        note(event, fields)
      },
    },
    notes: {
      take() {
        const drained = [...kinds.values()]
        kinds.clear()
        return drained
      },
      counts: () => [...counts],
      restore: (notes) => notes.forEach(count),
    },
  }
}

/**
 * Returns the title of an error: event, part of the program, kind, and source location. It excludes the message, which
 * may quote anything.
 */
export function titleOf(event: string, fields: Record<string, unknown>): string {
  const error = fields['error']
  const words = parts.map((name) => wordOf(fields[name]))
  const kind = error instanceof Error ? [wordOf(error.name), wordOf((error as { code?: unknown }).code), placeOf(error.stack)] : []
  return [wordOf(event), ...words, ...kind]
    .filter((word) => word !== '')
    .join(' ')
    .slice(0, titleMax)
}

/** Returns an identifier of the program; '' for other values. */
const wordOf = (value: unknown): string => (typeof value === 'string' && /^[\w./:*-]{1,80}$/.test(value) ? value : '')

/** Returns the first location in souk's source, such as `modules/selling/order/saga/saga.ts:12`. */
function placeOf(stack = ''): string {
  const [, path = '', line = ''] =
    /\/(?:(?:src|db|jobs)\/([\w./-]+\.ts)|(?:\$bunfs\/root\/)([\w.-]+\.js)):(\d+)/.exec(stack.slice(0, 10_000))?.filter(Boolean) ?? []
  return path === '' ? '' : `${path}:${line}`
}
