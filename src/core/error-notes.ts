import { digestOf } from '../lib/digest.ts'
import type { Log } from '../lib/log.ts'

/** One kind of error within an hour (UTC): `hour` is its beginning, `lastSeen` a moment of it, both in milliseconds since the epoch. */
export type ErrorNote = {
  readonly fingerprint: string
  readonly hour: number
  readonly title: string
  readonly count: number
  readonly lastSeen: number
}
/** What the process has logged as errors since it was asked last. */
export type ErrorNotes = {
  /** Hands out what there is and begins anew. */
  take(): ErrorNote[]
  /** How many lines there were of each event since the process began. */
  counts(): [event: string, count: number][]
  /** Takes back what could not be kept. */
  giveBack(notes: readonly ErrorNote[]): void
}

export const hourMs = 60 * 60_000
/** Kinds within an hour; what comes beyond them is counted as one. */
const kindsMax = 200
const titleMax = 200
/** Those that an alarm waits for are there from the beginning: the first one is then seen to come. */
const seen: readonly [string, number][] = [
  ['kpis.differ', 0],
  ['backup.documents_missing', 0],
  ['backup.document_damaged', 0],
]
const other = 'other errors'
/** Fields that say which part of the program it was; they hold words of ours. */
const parts = ['job', 'lane', 'method', 'route', 'processor'] as const

/**
 * The log, whose errors are counted besides. It only counts, in memory: what is counted is written by a job.
 * @param now milliseconds since the epoch
 */
export function notingErrors(log: Log, now: () => number): { log: Log; notes: ErrorNotes } {
  const kinds = new Map<string, ErrorNote>()
  const counts = new Map<string, number>(seen)
  const known = { hour: 0, titles: new Set<string>() }

  function count({ title, hour, count: more, lastSeen }: Omit<ErrorNote, 'fingerprint'>): void {
    const key = `${hour} ${title}`
    const before = kinds.get(key)
    kinds.set(key, {
      fingerprint: before?.fingerprint ?? digestOf(title).slice(0, 16),
      hour,
      title,
      count: (before?.count ?? 0) + more,
      lastSeen: Math.max(before?.lastSeen ?? 0, lastSeen),
    })
  }

  function note(event: string, fields: Record<string, unknown>): void {
    const at = now()
    const hour = at - (at % hourMs)
    if (known.hour !== hour) {
      known.hour = hour
      known.titles.clear()
    }
    const title = titleOf(event, fields)
    const isCounted = known.titles.has(title) || known.titles.size < kindsMax
    if (isCounted) known.titles.add(title)
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
        const taken = [...kinds.values()]
        kinds.clear()
        return taken
      },
      counts: () => [...counts],
      giveBack: (notes) => notes.forEach(count),
    },
  }
}

/**
 * What an error is called: the event, the part of the program, the kind of error and where in our source it was thrown. Never its
 * message, which may quote anything: that is in the log.
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

/** A word of a program; '' for anything else. */
const wordOf = (value: unknown): string => (typeof value === 'string' && /^[\w./:*-]{1,80}$/.test(value) ? value : '')

/** The first place of a stack that is ours, as `modules/selling/order/saga/saga.ts:12`. */
function placeOf(stack = ''): string {
  const [, path = '', line = ''] =
    /\/(?:(?:src|db|jobs)\/([\w./-]+\.ts)|(?:\$bunfs\/root\/)([\w.-]+\.js)):(\d+)/.exec(stack.slice(0, 10_000))?.filter(Boolean) ?? []
  return path === '' ? '' : `${path}:${line}`
}
