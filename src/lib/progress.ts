/** The progress of long work: a bar on a terminal, a line now and then elsewhere. */

export type Progress = {
  /** @param note further text, such as "1,200 rows" */
  at(done: number, note?: string): void
  /** Removes the bar. */
  end(): void
}

/** The output, such as `process.stderr`. */
export type ProgressStream = { isTTY?: boolean; columns?: number; write(text: string): unknown }
/** What is shown, and where. */
export type ProgressOptions = {
  /** 0 if unknown: then the elapsed time is shown. */
  total: number
  label: string
  stream: ProgressStream
  /** What is counted, such as "rows". */
  unit: string
  /** What an earlier run did; not part of the rate. */
  from?: number
  monotonicMs: () => number
}

/** Minimum interval between two draws of a bar. */
export const drawEveryMs = 100
const barWidth = 24
const columnsDefault = 80
/** Without a terminal, work that ends sooner writes nothing. */
const firstLineMs = 5_000
const lineEveryMs = 10_000
/** An earlier rate would be too inaccurate. */
const rateAfterMs = 1_000
/** Before this part of the work is done, the remaining time would be too inaccurate. */
const estimateFrom = 0.02

/** Shows a bar with the rate and the remaining time; without a terminal, a line every ten seconds. */
export function createProgress({ total, label, stream, unit, from = 0, monotonicMs }: ProgressOptions): Progress {
  const startedAt = monotonicMs()
  const state = (done: number, note: string | undefined): string[] => {
    const elapsedMs = monotonicMs() - startedAt
    const notes = note === undefined ? [] : [note]
    if (total <= 0) return [...(done > 0 ? [amount(done, unit)] : []), ...notes, `${durationText(elapsedMs / 1000)} so far`]
    const rate = elapsedMs >= rateAfterMs ? (done - from) / (elapsedMs / 1000) : 0
    const canEstimate = done - from >= (total - from) * estimateFrom
    const left = rate > 0 && done < total && canEstimate ? [`${amount(rate, unit)}/s`, `${durationText((total - done) / rate)} left`] : []
    return [`${amount(done, unit, total)} of ${amount(total, unit)}`, ...notes, ...left]
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

const part = (fraction: number) => Math.min(Math.max(fraction, 0), 1)
const percentOf = (fraction: number) => `${Math.floor(part(fraction) * 100)} %`

function barOf(fraction: number): string {
  const filled = Math.floor(part(fraction) * barWidth)
  return `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}] ${percentOf(fraction).padStart(5)}`
}

/** Returns an amount with its unit; without it if a total follows that names the unit. */
function amount(value: number, unit: string, total?: number): string {
  if (unit === 'bytes') return bytesText(value)
  const count = Math.round(value).toLocaleString('en-US')
  return total === undefined ? `${count} ${unit}` : count
}

/** Returns a size for people, such as "1.2 MB". */
export function bytesText(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1)
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`
}

/** Returns a duration for people, such as "3 min". */
export function durationText(seconds: number): string {
  const wholeSeconds = Math.ceil(seconds)
  if (wholeSeconds < 60) return `${wholeSeconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
