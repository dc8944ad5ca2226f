/** What every import over HTTP keeps to, whatever is imported. */
import type { HttpDeps } from './deps.ts'

/** How long an import may work once its file is there: shorter than the server lets a connection wait. */
export const importMaxMs = 50_000

export type Importing = {
  /** The file, anew each time that it is asked for. */
  readonly file: () => AsyncIterable<Uint8Array>
  /** How long it is. */
  readonly bytes: number
  /** Aborted when the client leaves, and when the time is over. */
  readonly signal: AbortSignal
  /** Lets others use the thread: between two pieces of the work. */
  readonly rest: () => Promise<boolean>
}

type Incoming = {
  /** What the only slot is of, and the same in words where it is not of the shop: see core/import-slots.ts. */
  readonly slot: readonly [of: string, whose?: string]
  readonly request: Request
  readonly upload: { pieces(): Promise<Uint8Array[]> }
}

/**
 * Does an import in its slot and in its turn at the thread, and gives both back whatever comes of it.
 * @throws AppError RATE_LIMITED while the slot is taken, or too many import; what the upload and the work throw
 */
export async function importing<T>(
  { importSlots, importPauses, pace }: Pick<HttpDeps, 'importSlots' | 'importPauses' | 'pace'>,
  { slot: [of, whose], request, upload }: Incoming,
  work: (importing: Importing) => Promise<T>,
): Promise<T> {
  const slot = importSlots.take(of, whose)
  let startedAt: number | undefined
  try {
    // What is not read waits with its sender.
    await importPauses.over(of)
    startedAt = performance.now()
    const pieces = await upload.pieces()
    slot.begin()
    const paced = await pace.enter()
    try {
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(importMaxMs)])
      return await work({ file: () => each(pieces), bytes: pieces.reduce((sum, { length }) => sum + length, 0), signal, rest: paced.rest })
    } finally {
      paced.leave()
    }
  } finally {
    if (startedAt !== undefined && request.signal.aborted) importPauses.begin(of, performance.now() - startedAt)
    slot.leave()
  }
}

async function* each(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces
}
