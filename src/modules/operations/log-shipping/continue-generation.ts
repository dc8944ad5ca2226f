/** Continues an earlier generation after a start. */

import type { ShippedLog } from '../../../../db/engine.ts'
import type { BackupStore } from '../../../core/backup-store.ts'
import { parseJson } from '../../../lib/json.ts'
import { SealBroken } from '../../../lib/sealed-stream.ts'
import { readText, textChunks } from '../backup/index.ts'
import { endedName, planRestore, resumableGeneration, type ShippedFile } from './domain.ts'
import { endOf, segmentHeadOf, splitHeader } from './file-headers.ts'

/** The record that a shipper writes when it stops. */
type EndRecord = {
  readonly generation: string
  /** The index of the next segment. */
  readonly next: number
  /** Identifies the complete database file; see `CommitLog.finish`. */
  readonly mark: string
}

type LastShipped = {
  /** The last restorable moment and the start of its snapshot; undefined if there is none. */
  readonly upTo: number | undefined
  readonly snapshotAt: number | undefined
  /** The end of the log, if the generation can be continued. */
  readonly logEnd: ShippedLog | undefined
  readonly resumeAt: ResumePoint | undefined
}

/** `lifeBegan`: the first segment of the log's present life, or an earlier one; `salts`: of the life shipped last. */
export type ResumePoint = Readonly<
  Record<'next' | 'lifeBegan' | 'lastAt' | 'snapshotAt' | 'bytesSince', number> & Record<'generation' | 'salts', string>
>

/** Identifies a life of the log. */
export const saltsOf = ({ salt1, salt2 }: Pick<ShippedLog['header'], 'salt1' | 'salt2'>): string => `${salt1} ${salt2}`

/**
 * Reads what a store holds of an instance.
 * @throws AppError UNAVAILABLE if the store does not respond
 */
export async function lastShipped(
  store: BackupStore,
  instance: string,
  { names, bytes }: { names: readonly ShippedFile[]; bytes: ReadonlyMap<string, number> },
): Promise<LastShipped> {
  const plan = planRestore(names, Number.MAX_SAFE_INTEGER)
  const lastTimes = { upTo: plan?.upTo, snapshotAt: plan?.snapshot.begunAt }
  const resumable = resumableGeneration(names)
  const end = resumable && (await readSegmentEnd(store, resumable.last))
  if (!resumable || !end) return { ...lastTimes, logEnd: undefined, resumeAt: undefined }
  const { snapshot, last } = resumable
  const next = last.index + 1
  const endRecord = await readEndRecord(store, instance)
  const isItsEnd = endRecord?.generation === last.generation && endRecord.next === next
  return {
    ...lastTimes,
    logEnd: { ...end, mark: isItsEnd ? endRecord.mark : undefined },
    resumeAt: {
      ...{ generation: last.generation, salts: saltsOf(end.header), next, lastAt: last.at, snapshotAt: snapshot.begunAt },
      // From there on the segments also serve the next snapshot, in whichever life of the log it starts.
      lifeBegan: snapshot.first,
      bytesSince: resumable.names.reduce((sum, name) => sum + (bytes.get(name) ?? 0), 0),
    },
  }
}

/** Returns where the log ended when the segment was shipped. */
async function readSegmentEnd(
  store: BackupStore,
  segment: Parameters<typeof segmentHeadOf>[1] & { name: string },
): Promise<ShippedLog | undefined> {
  const file = await store.get(segment.name)
  const content = file && (await ignoreBrokenSeal(() => splitHeader(file.chunks())))
  // Starts the generator, since one that has not started would not close its source.
  for await (const _ of content?.rest ?? []) break
  const head = segmentHeadOf(content?.head, segment)
  return head && endOf(head)
}

/** Writes the end record if the database file is complete. */
export async function writeEndRecord(
  store: BackupStore,
  instance: string,
  { mark, ...ended }: Omit<EndRecord, 'mark'> & { mark: string | undefined },
): Promise<void> {
  if (mark !== undefined) await store.put(endedName(instance), textChunks(JSON.stringify({ ...ended, mark } satisfies EndRecord)))
}

async function readEndRecord(store: BackupStore, instance: string): Promise<EndRecord | undefined> {
  const text = await ignoreBrokenSeal(() => readText(store, endedName(instance)))
  return text === undefined ? undefined : (parseJson(text) as EndRecord | undefined)
}

async function ignoreBrokenSeal<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof SealBroken) return undefined
    throw error
  }
}
