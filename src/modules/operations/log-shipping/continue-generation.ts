/** Going on, after a start, with what was shipped before it. */
import type { LogKept } from '../../../../db/engine.ts'
import type { BackupStore } from '../../../core/backup-store.ts'
import { SealBroken } from '../../../lib/sealed-stream.ts'
import { chunkOf, textOf } from '../backup/index.ts'
import { continuedBy, endedName, planRestore, type Shipped } from './domain.ts'
import { endOf, headAndRest, segmentHeadOf } from './file-headers.ts'

/** What whoever ships says when it is stopped. */
type Ended = {
  readonly generation: string
  /** The index of the segment that would have come next. */
  readonly next: number
  /** Of the file, in which all of it was: see `CommitLog.finish`. */
  readonly mark: string
}

export type LastShipped = {
  /** The last moment that can be gone back to, and when its snapshot was begun; undefined where there is none. */
  readonly upTo: number | undefined
  readonly snapshotAt: number | undefined
  /** Where it ends, where it may be gone on with. */
  readonly kept: LogKept | undefined
  readonly continued: Continuing | undefined
}

/** `lifeBegan`: the segment that the log's present life began with, or an earlier one; `salts`: of the life that was shipped last. */
type Continuing = Readonly<
  Record<'next' | 'lifeBegan' | 'lastAt' | 'snapshotAt' | 'bytesSince', number> & Record<'generation' | 'salts', string>
>

/** Tells one life of the log from another. */
export const saltsOf = ({ salt1, salt2 }: Pick<LogKept['header'], 'salt1' | 'salt2'>): string => `${salt1} ${salt2}`

/** What is in a store of an instance, as far as whoever begins has to know. @throws AppError UNAVAILABLE when it does not answer */
export async function lastShipped(
  store: BackupStore,
  instance: string,
  { names, bytes }: { names: readonly Shipped[]; bytes: ReadonlyMap<string, number> },
): Promise<LastShipped> {
  const plan = planRestore(names, Number.MAX_SAFE_INTEGER)
  const known = { upTo: plan?.upTo, snapshotAt: plan?.snapshot.begunAt }
  const found = continuedBy(names)
  const end = found && (await endIn(store, found.last))
  if (!found || !end) return { ...known, kept: undefined, continued: undefined }
  const { snapshot, last } = found
  const next = last.index + 1
  const ended = await endedIn(store, instance)
  const isItsEnd = ended?.generation === last.generation && ended.next === next
  return {
    ...known,
    kept: { ...end, mark: isItsEnd ? ended.mark : undefined },
    continued: {
      ...{ generation: last.generation, salts: saltsOf(end.header), next, lastAt: last.at, snapshotAt: snapshot.begunAt },
      // From there on the segments are good for the next snapshot as well, whichever life of the log it begins in.
      lifeBegan: snapshot.first,
      bytesSince: found.names.reduce((sum, name) => sum + (bytes.get(name) ?? 0), 0),
    },
  }
}

/** Where the log ended when a segment was shipped. */
async function endIn(store: BackupStore, segment: Parameters<typeof segmentHeadOf>[1] & { name: string }): Promise<LogKept | undefined> {
  const kept = await store.get(segment.name)
  const found = kept && (await unlessBroken(() => headAndRest(kept.chunks())))
  // One that was never begun would not close what it reads.
  for await (const _ of found?.rest ?? []) break
  const head = segmentHeadOf(found?.head, segment)
  return head && endOf(head)
}

/** Notes how it ended, where all of it is in the file. */
export async function noteEnd(
  store: BackupStore,
  instance: string,
  { mark, ...ended }: Omit<Ended, 'mark'> & { mark: string | undefined },
): Promise<void> {
  if (mark !== undefined) await store.put(endedName(instance), chunkOf(JSON.stringify({ ...ended, mark } satisfies Ended)))
}

async function endedIn(store: BackupStore, instance: string): Promise<Ended | undefined> {
  const text = await unlessBroken(() => textOf(store, endedName(instance)))
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Ended)
  } catch {
    return undefined
  }
}

async function unlessBroken<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof SealBroken) return undefined
    throw error
  }
}
