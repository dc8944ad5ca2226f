/** Runs imports over HTTP. */
import type { HttpDeps } from './deps.ts'

/** Time limit of an import after the upload; shorter than the server's connection timeout. */
export const importMaxMs = 50_000

type ImportRun = {
  /** The file; each call starts from the beginning. */
  readonly file: () => AsyncIterable<Uint8Array>
  /** Size of the file. */
  readonly bytes: number
  /** Aborted when the client disconnects or the time is over. */
  readonly signal: AbortSignal
  /** Yields the thread between two pieces of work. */
  readonly rest: () => Promise<boolean>
}

type ImportRequest = {
  /** Owner of the slot, and the owner in words if it is not the shop. */
  readonly slot: readonly [of: string, whose?: string]
  readonly request: Request
  readonly upload: { pieces(): Promise<Uint8Array[]> }
}

/**
 * Runs an import in its slot and in a turn of the scheduler, and releases both.
 * @throws AppError RATE_LIMITED without a free slot; errors of the upload and the work
 */
export async function runImport<T>(
  { importSlots, runningImports, scheduler }: Pick<HttpDeps, 'importSlots' | 'runningImports' | 'scheduler'>,
  { slot: [of, whose], request, upload }: ImportRequest,
  work: (run: ImportRun) => Promise<T>,
): Promise<T> {
  const releases = [importSlots.take(of, whose)]
  try {
    // Refuses before the client sends up to 20 MB.
    runningImports.take(of)()
    const pieces = await upload.pieces()
    releases.push(runningImports.take(of))
    const paced = await scheduler.enter()
    try {
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(importMaxMs)])
      return await work({
        file: () => streamOf(pieces),
        bytes: pieces.reduce((sum, { length }) => sum + length, 0),
        signal,
        rest: paced.rest,
      })
    } finally {
      paced.leave()
    }
  } finally {
    for (const release of releases) release()
  }
}

async function* streamOf(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces
}
