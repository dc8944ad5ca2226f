/** Builds a database file from the shipped log. */
import { Database as Sqlite } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import type { LogHeader, LogSum } from '../../db/engine.ts'
import { unpackPieces } from '../../db/sqlite/framing.ts'
import { openPages, type Pages } from '../../db/sqlite/log-apply.ts'
import type { BackupStore } from '../core/backup-store.ts'
import { AppError, OperatorError } from '../core/errors.ts'
import {
  continuesSegment,
  instanceOf,
  pagesName,
  parseShippedName,
  planRestore,
  type RestorePlan,
  restorableRange,
  type SegmentHead,
  type ShippedFile,
  type SnapshotHead,
  segmentHeadOf,
  shippedPrefix,
  splitHeader,
} from '../modules/operations/log-shipping/index.ts'

type LogRestoreOptions = {
  readonly store: BackupStore
  /** Milliseconds since the epoch; undefined for the end of the log. */
  readonly to: number | undefined
  /** A file that does not exist yet. */
  readonly file: string
  /** Chooses the instance if several share a store. */
  readonly instance: string | undefined
  /** Stops at damaged or missing data instead of failing. */
  readonly untilDamage: boolean
  readonly onBytes?: (bytes: number) => void
}

/**
 * `upTo`: the time of the last included commits; `notes`: remarks for the operator; `instance`: the origin of the log.
 */
type LogRestoreResult = { readonly upTo: number; readonly notes: readonly string[]; readonly instance: string }

/** Shipped data is unusable. */
class DamageError extends Error {
  constructor(
    /** Undefined for the snapshot. */
    readonly segment: number | undefined,
    message: string,
  ) {
    super(message)
  }
}

const timeText = (at: number) => new Date(at).toISOString()

/**
 * Builds the database as it was at a moment: a snapshot and all segments whose commits were made by then.
 * @throws OperatorError if no snapshot is old enough, or data is damaged and `untilDamage` is not set
 */
export async function buildFromLog({
  store,
  to,
  file,
  untilDamage,
  instance,
  onBytes = () => undefined,
}: LogRestoreOptions): Promise<LogRestoreResult> {
  const shipped: ShippedFile[] = []
  for await (const { name } of store.list(shippedPrefix)) {
    const one = parseShippedName(name)
    if (one && (instance === undefined || instanceOf(one) === instance)) shipped.push(one)
  }
  const instances = [...new Set(shipped.map(instanceOf))]
  if (instances.length > 1)
    throw new OperatorError(`${store.place} has the logs of several instances. Choose one with --instance: ${instances.join(', ')}`)
  const notes: string[] = []
  const unusable = new Set<string>()
  for (;;) {
    const plan = planRestore(
      shipped.filter(({ name }) => !unusable.has(name)),
      to ?? Number.MAX_SAFE_INTEGER,
    )
    if (!plan) throw refuseWithoutSnapshot(store, shipped, to, notes)
    try {
      return { ...(await buildUntilDamage(store, plan, file, untilDamage, onBytes, notes)), instance: instanceOf(plan.snapshot) }
    } catch (error) {
      rmSync(file, { force: true })
      if (!(error instanceof DamageError)) throw error
      // An earlier snapshot with more segments leads to the same state.
      unusable.add(plan.snapshot.name)
      notes.push(`The snapshot of ${timeText(plan.snapshot.at)} was not used: ${error.message}`)
    }
  }
}

function refuseWithoutSnapshot(
  store: BackupStore,
  shipped: readonly ShippedFile[],
  to: number | undefined,
  notes: readonly string[],
): OperatorError {
  if (notes.length > 0) return new OperatorError(`Nothing was restored:\n${notes.map((note) => `  - ${note}`).join('\n')}`)
  const range = restorableRange(shipped)
  if (!range) return new OperatorError(`${store.place} contains no shipped log with a snapshot: restore a backup instead`)
  if (to === undefined || to >= range.from)
    return new OperatorError(`The shipped log in ${store.place} is incomplete for every snapshot: restore a backup instead`)
  return new OperatorError(
    `The shipped log in ${store.place} covers ${timeText(range.from)} to ${timeText(range.to)}: choose a time in this range`,
  )
}

/** @throws DamageError if the snapshot is unusable */
async function buildUntilDamage(
  store: BackupStore,
  plan: RestorePlan,
  file: string,
  untilDamage: boolean,
  onBytes: (bytes: number) => void,
  notes: readonly string[],
): Promise<Omit<LogRestoreResult, 'instance'>> {
  const stop = (segment: number, reason: string): RestorePlan => {
    const segments = plan.segments.slice(0, segment - plan.snapshot.first)
    const cut = { ...plan, segments, upTo: Math.max(plan.snapshot.at, segments.at(-1)?.at ?? 0) }
    if (!untilDamage)
      throw new OperatorError(
        `${reason}. Nothing was restored. The log is intact up to ${timeText(cut.upTo)}: use --until-damage, or an earlier time with --to`,
      )
    return cut
  }
  let usablePlan = plan
  if (plan.missing !== undefined) usablePlan = stop(plan.missing, `Segment ${plan.missing + 1} of the log is missing, but later ones exist`)
  try {
    await build(store, usablePlan, file, onBytes)
  } catch (error) {
    if (!(error instanceof DamageError) || error.segment === undefined || error.segment <= plan.snapshot.last) throw error
    usablePlan = stop(error.segment, error.message)
    // Some of its pages were already applied.
    rmSync(file, { force: true })
    await build(store, usablePlan, file, onBytes)
  }
  const isCut = usablePlan !== plan
  const { resumedAt } = plan
  return {
    upTo: usablePlan.upTo,
    notes: [
      ...notes,
      ...(isCut ? [`Not restored: commits after ${timeText(usablePlan.upTo)} are damaged or missing.`] : []),
      ...(resumedAt !== undefined
        ? [`Not restored: commits between ${timeText(usablePlan.upTo)} and ${timeText(resumedAt)}, when log shipping restarted.`]
        : []),
    ],
  }
}

/** @throws DamageError */
async function build(
  store: BackupStore,
  { snapshot, segments }: RestorePlan,
  file: string,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const pages = openPages(file)
  try {
    await copyPages(store, snapshot, pages, onBytes)
    let before: Position | undefined
    for (const segment of segments) before = await applySegment(store, segment, pages, before, onBytes)
    pages.finish()
  } finally {
    pages.close()
  }
  mergeLog(file)
}

type Position = { readonly header: LogHeader; readonly frame: number; readonly sum: LogSum }

async function copyPages(
  store: BackupStore,
  snapshot: RestorePlan['snapshot'],
  pages: Pages,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const storedHead = await store.get(snapshot.name)
  const head = storedHead && (await rethrowAsDamage(undefined, () => readHead(storedHead.chunks())))
  const stored = await store.get(pagesName(snapshot))
  if (!stored || head?.format !== 1) throw new DamageError(undefined, 'it is incomplete, or written by a newer version')
  const hash = createHash('sha256')
  let bytes = 0
  async function* hashChunks(chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      hash.update(chunk)
      bytes += chunk.length
      onBytes(chunk.length)
      yield chunk
    }
  }
  await rethrowAsDamage(undefined, async () => {
    let at = 0
    for await (const piece of unpackPieces(hashChunks(stored.chunks()))) {
      pages.write(at, piece)
      at += piece.length
    }
  })
  if (bytes !== head.bytes || hash.digest('hex') !== head.sha256) throw new DamageError(undefined, 'its pages are damaged')
}

async function readHead(chunks: AsyncIterable<Uint8Array>): Promise<Partial<SnapshotHead> | undefined> {
  const found = await splitHeader(chunks)
  for await (const _ of found?.rest ?? []);
  return found?.head as Partial<SnapshotHead> | undefined
}

async function applySegment(
  store: BackupStore,
  segment: RestorePlan['segments'][number],
  pages: Pages,
  before: Position | undefined,
  onBytes: (bytes: number) => void,
): Promise<Position> {
  const { index } = segment
  const what = `segment ${index + 1} of the log`
  const stored = await store.get(segment.name)
  if (!stored) throw new DamageError(index, `${what} is missing`)
  return rethrowAsDamage(index, async () => {
    const found = await splitHeader(stored.chunks())
    const head = segmentHeadOf(found?.head, segment)
    if (!found || !head) throw new DamageError(index, `${what} is damaged, or written by a newer version`)
    if (!continuesSegment(head, before)) throw new DamageError(index, `${what} doesn't continue the previous segment`)
    const end = await applyFrames(head, found.rest, pages)
    if (!end) throw new DamageError(index, `${what} is damaged`)
    onBytes(stored.bytes)
    return end
  })
}

async function applyFrames(head: SegmentHead, packed: AsyncIterable<Uint8Array>, pages: Pages): Promise<Position | undefined> {
  const { header, from, to } = head
  let [frame, sum, endsCommit]: [number, LogSum, boolean] = [from, head.sum, false]
  for await (const piece of unpackPieces(packed)) {
    const applied = pages.apply(piece, header, sum)
    if (!applied) return undefined
    sum = applied.sum
    endsCommit = applied.endsCommit
    frame += applied.frames
  }
  return frame === to && endsCommit ? { header, frame, sum } : undefined
}

/** Treats failures to open, unpack or decode as damage, but not an unavailable store. */
async function rethrowAsDamage<T>(segment: number | undefined, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof DamageError || (error instanceof AppError && error.kind === 'UNAVAILABLE') || hasCode(error)) throw error
    throw new DamageError(segment, segment === undefined ? 'it is damaged' : `segment ${segment + 1} of the log is damaged`)
  }
}

/** Errors of the system or of SQLite, such as a full disk. */
const hasCode = (error: unknown) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && !(error instanceof AppError)

/** Merges the log: only the file is restored. */
function mergeLog(file: string): void {
  using connection = new Sqlite(file)
  connection.run('PRAGMA journal_mode = DELETE')
}
