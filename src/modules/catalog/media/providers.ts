import { createPictureWorkspace } from '../../../clients/pictures.ts'
import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import { createFairQueue } from '../../../core/limits/fair-queue.ts'
import { createSemaphore } from '../../../core/limits/semaphore.ts'
import { pictureBounds } from '../../../lib/pictures/picture.ts'
import type { InstanceKeyDeps } from '../../identity/instance-key/index.ts'
import type { LendingDocumentDeps } from '../../lending/lending-document/index.ts'
import { createMediaStore } from './store.ts'

/** Fits into a request's time limit, with the time to decode one picture. */
const waitMaxMs = 15_000
const usualMs = 500
const waitingMax = 64
const tooManyUploads = 'Too many pictures are being uploaded'

export const mediaProviders = ({ db, config, clock }: Pick<Deps, 'db' | 'config' | 'clock'>) => ({
  mediaStore: createMediaStore(db),
  pictureBench: createPictureWorkspace(`${config.dataDir}/media-bench`, pictureBounds.pixelsMax),
  uploadSlots: createSemaphore({ perOwner: 8, total: 32, refusals: { ofOwner: () => tooManyUploads, ofAll: tooManyUploads } }),
  /** Pictures whose missing file was logged, with the time. Every visitor of a shop requests them. */
  loggedPictures: new Map<string, number>(),
  /** Decodes one picture at a time, because it and its pixels are in memory. */
  decodeQueue: createFairQueue({
    atOnce: 1,
    waitMaxMs,
    waitingMax,
    initialTurnMs: usualMs,
    now: clock.monotonic,
    full: (waitMs) =>
      new AppError('UNAVAILABLE', 'Too many pictures are being processed: nothing was changed, try again later', {
        retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
      }),
  }),
})
/** For `souk check`, which runs without an instance. */
export const checkingProviders = (db: Parameters<typeof createMediaStore>[0]) => ({ mediaStore: createMediaStore(db) })
export type MediaDeps = InstanceKeyDeps & LendingDocumentDeps & ReturnType<typeof mediaProviders>
