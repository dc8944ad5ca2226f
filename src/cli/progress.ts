/** What is done and what is left of work that takes a while: a bar on a terminal, a line now and then elsewhere. */

export type Progress = {
  /**
   * So much of the total is done.
   * @param note what else to show, as in "1,200 rows"
   */
  at(done: number, note?: string): void
  /** Takes the bar away. */
  end(): void
}

type Stream = { isTTY?: boolean; columns?: number; write(text: string): unknown }
type Options = {
  /** What `at` counts towards; 0 where it is not known, and then the time that it takes is shown. */
  total: number
  label: string
  stream: Stream
  /** What is counted, as in "rows". */
  unit: string
  /** What an earlier run has done of it, which says nothing of the rate. */
  from?: number
  monotonicMs?: () => number
}

const drawEveryMs = 100
const barWidth = 24
const columnsDefault = 80
/** Where nobody watches: quick work says nothing, long work that it lives. */
const firstLineMs = 5_000
const lineEveryMs = 10_000
/** Sooner, a rate says little. */
const rateAfterMs = 1_000

/** A bar with what is done, the rate and the time left; where `stream` is no terminal, a line every ten seconds. */
export function createProgress({ total, label, stream, unit, from = 0, monotonicMs = () => performance.now() }: Options): Progress {
  const startedAt = monotonicMs()
  const state = (done: number, note: string | undefined): string[] => {
    const elapsedMs = monotonicMs() - startedAt
    const shown = note === undefined ? [] : [note]
    if (total <= 0) return [...(done > 0 ? [amount(done, unit)] : []), ...shown, `${durationText(elapsedMs / 1000)} so far`]
    const rate = elapsedMs >= rateAfterMs ? (done - from) / (elapsedMs / 1000) : 0
    const left = rate > 0 && done < total ? [`${amount(rate, unit)}/s`, `${durationText((total - done) / rate)} left`] : []
    return [`${amount(done, unit, total)} of ${amount(total, unit)}`, ...shown, ...left]
  }

  if (!stream.isTTY) {
    let nextAt = startedAt + firstLineMs
    return {
      at(done, note) {
        if (monotonicMs() < nextAt) return
        nextAt = monotonicMs() + lineEveryMs
        stream.write(`${label}: ${[...(total > 0 ? [percentOf(done / total)] : []), ...state(done, note)].join(', ')}\n`)
      },
      end: () => undefined,
    }
  }

  let drawnAt = Number.NEGATIVE_INFINITY
  return {
    at(done, note) {
      const now = monotonicMs()
      if (now - drawnAt < drawEveryMs && (done < total || total <= 0)) return
      drawnAt = now
      const line = [label, ...(total > 0 ? [barOf(done / total)] : []), ...state(done, note)].join('  ')
      stream.write(`\r\x1b[K${line.slice(0, (stream.columns ?? columnsDefault) - 1)}`)
    },
    end: () => void stream.write('\r\x1b[K'),
  }
}

/** Shows how long something takes of which nothing can be counted. */
export async function whileWaiting<T>(label: string, stream: Stream, work: Promise<T>): Promise<T> {
  const progress = createProgress({ total: 0, label, stream, unit: '' })
  const tick = setInterval(() => progress.at(0), drawEveryMs)
  try {
    return await work
  } finally {
    clearInterval(tick)
    progress.end()
  }
}

const part = (fraction: number) => Math.min(Math.max(fraction, 0), 1)
const percentOf = (fraction: number) => `${Math.floor(part(fraction) * 100)} %`

function barOf(fraction: number): string {
  const filled = Math.floor(part(fraction) * barWidth)
  return `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}] ${percentOf(fraction).padStart(5)}`
}

/** An amount with its unit; of a total, which names the unit, without. */
function amount(value: number, unit: string, total?: number): string {
  if (unit === 'bytes') return bytesText(value)
  const count = Math.round(value).toLocaleString('en-US')
  return total === undefined ? `${count} ${unit}` : count
}

/** A size as people read it. */
export function bytesText(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1)
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`
}

/** A time as people read it. */
export function durationText(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
