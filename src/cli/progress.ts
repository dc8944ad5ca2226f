/** How far work is that takes a while: a bar on a terminal, gone when the work is done; elsewhere a line now and then. */

export type Progress = {
  /** So much of the total is done; `what` says it in words, such as how many rows. */
  at(done: number, what?: string): void
  /** Takes the bar away. */
  end(): void
}

type Stream = { isTTY?: boolean; columns?: number; write(text: string): unknown }
type Options = {
  /** What `at` counts towards; 0 where it is not known. */
  total: number
  label: string
  stream: Stream
  unit?: 'bytes'
  monotonicMs?: () => number
}

const drawEveryMs = 100
/** Where nobody watches: rare enough for a log. */
const tellEveryMs = 10_000
const barWidth = 24
const columnsDefault = 80

/** Percentage, rate and the time that is left. Where `stream` is no terminal, a line every ten seconds. */
export function createProgress({ total, label, stream, unit, monotonicMs = () => performance.now() }: Options): Progress {
  const startedAt = monotonicMs()
  let drawnAt = Number.NEGATIVE_INFINITY
  let toldAt = startedAt

  function paceOf(done: number, now: number): string {
    const seconds = (now - startedAt) / 1000
    if (seconds <= 0) return ''
    const left = done > 0 && total > done ? `  ${durationText((total - done) / (done / seconds))} left` : ''
    return `  ${amount(done / seconds, unit)}/s${left}`
  }

  return {
    at(done, what) {
      const now = monotonicMs()
      const words = what === undefined ? '' : `  ${what}`
      if (!stream.isTTY) {
        if (now - toldAt < tellEveryMs) return
        toldAt = now
        stream.write(`${label}  ${total > 0 ? percentOf(done / total) : amount(done, unit)}${words}${paceOf(done, now)}\n`)
        return
      }
      if (now - drawnAt < drawEveryMs && done < total) return
      drawnAt = now
      const line = `${label}  ${total > 0 ? barOf(done / total) : amount(done, unit)}${words}${paceOf(done, now)}`
      stream.write(`\r\x1b[K${line.slice(0, (stream.columns ?? columnsDefault) - 1)}`)
    },
    end: () => void (stream.isTTY && stream.write('\r\x1b[K')),
  }
}

const partOf = (fraction: number) => Math.min(Math.max(fraction, 0), 1)
const percentOf = (fraction: number) => `${Math.floor(partOf(fraction) * 100)} %`

function barOf(fraction: number): string {
  const filled = Math.floor(partOf(fraction) * barWidth)
  return `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}] ${percentOf(fraction).padStart(5)}`
}

/** A time as people read it: `45 s`, `3 min 20 s`, `2 h 5 min`. */
function durationText(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds))
  if (whole < 60) return `${whole} s`
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`
}

const amount = (value: number, unit: 'bytes' | undefined) =>
  unit === 'bytes' ? bytesText(value) : Math.round(value).toLocaleString('en-US')

/** A size as people read it. */
export function bytesText(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1)
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`
}
