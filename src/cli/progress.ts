/** A bar for work that takes a while: drawn on a terminal only, and gone when the work is done. */

export type Progress = {
  /** So much of the total is done. */
  at(done: number): void
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
const barWidth = 24
const columnsDefault = 80

/** A progress bar with percentage and rate. Where `stream` is no terminal it writes nothing. */
export function createProgress({ total, label, stream, unit, monotonicMs = () => performance.now() }: Options): Progress {
  if (!stream.isTTY) return { at: () => undefined, end: () => undefined }
  const startedAt = monotonicMs()
  let drawnAt = Number.NEGATIVE_INFINITY
  return {
    at(done) {
      const now = monotonicMs()
      if (now - drawnAt < drawEveryMs && done < total) return
      drawnAt = now
      const seconds = (now - startedAt) / 1000
      const rate = seconds > 0 ? `  ${amount(done / seconds, unit)}/s` : ''
      const line = `${label}  ${total > 0 ? barOf(done / total) : amount(done, unit)}${rate}`
      stream.write(`\r\x1b[K${line.slice(0, (stream.columns ?? columnsDefault) - 1)}`)
    },
    end: () => void stream.write('\r\x1b[K'),
  }
}

function barOf(fraction: number): string {
  const part = Math.min(Math.max(fraction, 0), 1)
  const filled = Math.floor(part * barWidth)
  return `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}] ${String(Math.floor(part * 100)).padStart(3)} %`
}

const amount = (value: number, unit: 'bytes' | undefined) =>
  unit === 'bytes' ? bytesText(value) : Math.round(value).toLocaleString('en-US')

/** A size as people read it. */
export function bytesText(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1)
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`
}
