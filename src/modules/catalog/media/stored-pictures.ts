/** Whether pictures are as they were handed in. */
import { isOfPictures } from '../../../core/documents.ts'
import { dayMs } from '../../../lib/day.ts'
import { digestOfAll } from '../../../lib/digest.ts'
import { isStoreUnavailable, type PictureDigest } from '../../lending/lending-document/index.ts'
import type { PictureFile } from './domain.ts'
import type { MediaDeps } from './providers.ts'

const pageRows = 200

type KeepingDeps = Pick<MediaDeps, 'mediaStore' | 'documentStores'>

/** The picture that has a file of this name now. */
export const pictureWithFile = ({ mediaStore }: Pick<MediaDeps, 'mediaStore'>, storageName: string): Promise<PictureDigest | undefined> =>
  mediaStore.fileNamed(storageName)

/** How many files of pictures there are. */
export const countPictureFiles = ({ mediaStore }: Pick<MediaDeps, 'mediaStore'>): Promise<number> => mediaStore.countFiles()

/** A file of a picture that is not as it was put. */
export type PictureFault = { readonly file: PictureFile; readonly fault: 'MISSING' | 'ALTERED' | 'UNREACHABLE' }

/**
 * Reads every file to its end.
 * @param onSeen told how many were looked at
 */
export async function* pictureFaults(deps: KeepingDeps, onSeen: (files: number) => void = () => undefined): AsyncGenerator<PictureFault> {
  let [seen, page]: [number, PictureFile[]] = [0, []]
  do {
    page = await deps.mediaStore.filePage(page.at(-1)?.storageName ?? '', pageRows)
    for (const file of page) {
      const fault = await faultOf(deps, file)
      // One that was removed meanwhile has gone with its row.
      if (fault && (await deps.mediaStore.fileNamed(file.storageName))) yield { file, fault }
      onSeen(++seen)
    }
  } while (page.length === pageRows)
}

async function faultOf({ documentStores }: KeepingDeps, file: PictureFile): Promise<PictureFault['fault'] | undefined> {
  const store = isOfPictures(file.store) ? documentStores.of(file.store) : undefined
  try {
    const found = store && (await store.get(file.storageName))
    if (!found) return store ? 'MISSING' : 'UNREACHABLE'
    return (await digestOfAll(found.chunks())) === file.digest ? undefined : 'ALTERED'
  } catch (error) {
    return isStoreUnavailable(error) ? 'UNREACHABLE' : 'ALTERED'
  }
}

/** What is kept of pictures in two places and does not agree, in words. */
export async function pictureDifferences({ mediaStore }: Pick<MediaDeps, 'mediaStore'>): Promise<string[]> {
  const { shops, unowned, uses } = await mediaStore.differences()
  return [
    ...shops.map(({ shop, counted, there }) => `Shop ${shop}: ${counted} are counted, and ${there} are there`),
    ...unowned.map((hash) => `Picture ${hash}: no shop has it, or it has no file`),
    ...uses.map((product) => `Product ${product}: what it shows is not what is noted of it`),
  ]
}

/** Clears what a crash left where pictures are looked at, once it is a day old. */
export const tidyBench = ({ pictureBench, clock }: Pick<MediaDeps, 'pictureBench' | 'clock'>): Promise<void> =>
  pictureBench.tidy(clock.now() - dayMs)
