/** The progress of commands, measured by the monotonic clock of this process. */
import {
  createProgress as createProgressBy,
  drawEveryMs,
  type Progress,
  type ProgressOptions,
  type ProgressStream,
} from '../lib/progress.ts'

/** Creates a bar on a terminal; elsewhere it writes a line now and then. */
export const createProgress = (options: Omit<ProgressOptions, 'monotonicMs'>): Progress =>
  createProgressBy({ ...options, monotonicMs: () => performance.now() })

/** Shows the elapsed time of work whose progress cannot be counted. */
export async function whileWaiting<T>(label: string, stream: ProgressStream, work: Promise<T>): Promise<T> {
  const progress = createProgress({ total: 0, label, stream, unit: '' })
  const tick = setInterval(() => progress.at(0), drawEveryMs)
  try {
    return await work
  } finally {
    clearInterval(tick)
    progress.end()
  }
}
