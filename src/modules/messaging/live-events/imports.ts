import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import { minuteMs } from '../../../lib/day.ts'
import { pick } from '../../../lib/objects.ts'
import { resumableMs } from './domain.ts'
import type { LiveDeps } from './providers.ts'
import { tellLive } from './service.ts'

/** What imports report of what they have done, whatever they import. */
type Report = { readonly complete: boolean } & Readonly<Record<'rows' | 'created' | 'updated' | 'skipped' | 'failed', number>>
type Import = { readonly shopId: string; readonly kind: 'products' | 'customers'; readonly dryRun: boolean; readonly bytes: number }
/** Told how many bytes of the file were read, and how many rows were stored or refused, and how many of what they hold was refused. */
export type OnProgress = (bytesRead: number, rows: number, failed: number) => void

const tellEveryMs = 1_000
const nothing = { rows: 0, created: 0, updated: 0, skipped: 0, failed: 0 }

/**
 * Tells those who follow the shop how an import goes.
 * @param work what it does
 * @returns and throws what the work does
 */
export async function tellingImport<Done extends Report>(
  { liveNotes, newId, clock }: Pick<Deps, 'newId' | 'clock'> & Pick<LiveDeps, 'liveNotes'>,
  { shopId, kind, dryRun, bytes }: Import,
  work: (onProgress: OnProgress) => Promise<Done>,
): Promise<Done> {
  const of = { importId: newId('import'), kind }
  const tell = (what: 'started' | 'progress' | 'finished', data: object) =>
    liveNotes.note({ name: `import.${what}`, shopId, data: { ...of, ...data } })
  let toldAt = clock.monotonic()
  tell('started', { dryRun, bytes })
  let soFar: Readonly<Record<keyof typeof nothing, number>> = nothing
  try {
    const report = await work((bytesRead, rows, failed) => {
      soFar = { ...nothing, rows, failed }
      if (clock.monotonic() - toldAt < tellEveryMs) return
      toldAt = clock.monotonic()
      tell('progress', { bytes, bytesRead, rows, failed })
    })
    tell('finished', { result: report.complete ? 'DONE' : 'STOPPED', ...pick(report, 'rows', 'created', 'updated', 'skipped', 'failed') })
    return report
  } catch (error) {
    tell('finished', { result: error instanceof AppError ? 'REFUSED' : 'STOPPED', ...soFar })
    throw error
  } finally {
    // A command ends behind it.
    await liveNotes.idle()
  }
}

/** An import tells how it goes each second: one of which nothing was heard for so long has ended with its process. */
const silentMs = 2 * minuteMs

/** Tells of imports whose process was killed that they have ended: whoever follows them waits for that. */
export async function endLostImports({
  db,
  clock,
  newId,
  liveStore,
}: Pick<Deps, 'db' | 'clock' | 'newId'> & Pick<LiveDeps, 'liveStore'>): Promise<void> {
  const now = clock.now()
  const last = new Map<unknown, Awaited<ReturnType<typeof liveStore.importsSince>>[number]>()
  for (const row of await liveStore.importsSince(now - resumableMs)) last.set(row.data['importId'], row)
  const lost = [...last.values()].filter(({ name, at }) => name !== 'import.finished' && now - at > silentMs)
  for (const { shopId, data } of lost) {
    const { importId, kind, rows = 0, failed = 0 } = data
    const ended = { importId, kind, result: 'STOPPED', ...nothing, rows, failed }
    await db.write((tx) => tellLive(tx, { newId, clock }, { name: 'import.finished', shopId, data: ended }))
  }
}
