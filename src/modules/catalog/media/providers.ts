import { createPictureBench } from '../../../clients/pictures.ts'
import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import { createTurns } from '../../../lib/fair-queue.ts'
import { pictureBounds } from '../../../lib/pictures/picture.ts'
import type { InstanceKeyDeps } from '../../identity/instance-key/index.ts'
import type { LendingDocumentDeps } from '../../lending/lending-document/index.ts'
import { createMediaStore } from './store.ts'
import { createUploadPlaces } from './upload-slots.ts'

/** Whoever waits is answered in time, with what it takes to look at one picture on top. */
const waitMaxMs = 15_000
const usualMs = 500
const waitingMax = 64

export const mediaProviders = ({ db, config, clock }: Pick<Deps, 'db' | 'config' | 'clock'>) => ({
  mediaStore: createMediaStore(db),
  pictureBench: createPictureBench(`${config.dataDir}/media-bench`, pictureBounds.pixelsMax),
  uploadPlaces: createUploadPlaces(),
  /** Of which pictures was told that they are not at hand, and when last: everybody who looks at a shop asks for them. */
  picturesTold: new Map<string, number>(),
  /** One picture at a time is in memory, and its pixels decoded. */
  pictureTurns: createTurns({
    atOnce: 1,
    waitMaxMs,
    waitingMax,
    usualMs,
    now: clock.monotonic,
    full: (waitMs) =>
      new AppError('UNAVAILABLE', 'Too many pictures are being looked at: nothing was changed, try again later', {
        retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
      }),
  }),
})
/** For `souk check`, which has no instance. */
export const checkingProviders = (db: Parameters<typeof createMediaStore>[0]) => ({ mediaStore: createMediaStore(db) })
export type MediaDeps = InstanceKeyDeps & LendingDocumentDeps & ReturnType<typeof mediaProviders>
