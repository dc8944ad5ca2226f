import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import { minuteMs } from '../../../lib/day.ts'
import { pick } from '../../../lib/objects.ts'
import { resumableMs } from './domain.ts'
import type { LiveDeps } from './providers.ts'
import { publishEvent } from './service.ts'

/** The result of any import. */
export type ImportResult = { readonly complete: boolean } & Readonly<Record<'rows' | 'created' | 'updated' | 'skipped' | 'failed', number>>
export type RunningImport = {
  readonly shopId: string
  readonly kind: 'products' | 'customers'
  readonly dryRun: boolean
  readonly bytes: number
}
/** Receives bytes read, rows stored or refused, and records refused. */
type OnProgress = (bytesRead: number, rows: number, failed: number) => void

const progressIntervalMs = 1_000
const zeroCounts = { rows: 0, created: 0, updated: 0, skipped: 0, failed: 0 }

/**
 * Runs an import and publishes its progress to the shop's listeners.
 * @param work the import
 * @returns and throws what `work` does
 */
export async function runReportedImport<Done extends ImportResult>(
  { liveNotes, newId, clock }: Pick<Deps, 'newId' | 'clock'> & Pick<LiveDeps, 'liveNotes'>,
  { shopId, kind, dryRun, bytes }: RunningImport,
  work: (onProgress: OnProgress) => Promise<Done>,
): Promise<Done> {
  const of = { importId: newId('import'), kind }
  const publish = (what: 'started' | 'progress' | 'finished', data: object) =>
    liveNotes.note({ name: `import.${what}`, shopId, data: { ...of, ...data } })
  let publishedAt = clock.monotonic()
  publish('started', { dryRun, bytes })
  let progress: Readonly<Record<keyof typeof zeroCounts, number>> = zeroCounts
  try {
    const report = await work((bytesRead, rows, failed) => {
      progress = { ...zeroCounts, rows, failed }
      if (clock.monotonic() - publishedAt < progressIntervalMs) return
      publishedAt = clock.monotonic()
      publish('progress', { bytes, bytesRead, rows, failed })
    })
    publish('finished', {
      result: report.complete ? 'DONE' : 'STOPPED',
      ...pick(report, 'rows', 'created', 'updated', 'skipped', 'failed'),
    })
    return report
  } catch (error) {
    publish('finished', { result: error instanceof AppError ? 'REFUSED' : 'STOPPED', ...progress })
    throw error
  } finally {
    // A command ends right after this.
    await liveNotes.idle()
  }
}

/** Imports report every second, so one without a report for this long has ended with its process. */
const lostAfterMs = 2 * minuteMs

/** Publishes the end of imports whose process was killed. */
export async function publishLostImports({
  db,
  clock,
  newId,
  liveStore,
}: Pick<Deps, 'db' | 'clock' | 'newId'> & Pick<LiveDeps, 'liveStore'>): Promise<void> {
  const now = clock.now()
  const last = new Map<unknown, Awaited<ReturnType<typeof liveStore.importsSince>>[number]>()
  for (const row of await liveStore.importsSince(now - resumableMs)) last.set(row.data['importId'], row)
  const lost = [...last.values()].filter(({ name, at }) => name !== 'import.finished' && now - at > lostAfterMs)
  for (const { shopId, data } of lost) {
    const { importId, kind, rows = 0, failed = 0 } = data
    const ended = { importId, kind, result: 'STOPPED', ...zeroCounts, rows, failed }
    await db.write((tx) => publishEvent(tx, { newId, clock }, { name: 'import.finished', shopId, data: ended }))
  }
}
