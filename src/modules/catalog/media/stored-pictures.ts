/** Verifies stored pictures. */
import { isPictureStore } from '../../../core/documents.ts'
import { dayMs } from '../../../lib/day.ts'
import { digestOfAll } from '../../../lib/digest.ts'
import { isStoreUnavailable, type PictureDigest } from '../../lending/lending-document/index.ts'
import type { PictureFile } from './domain.ts'
import type { MediaDeps } from './providers.ts'

const pageRows = 200

type PictureFileDeps = Pick<MediaDeps, 'mediaStore' | 'documentStores'>

/** Finds the picture that has a file of this name. */
export const findPictureOfFile = ({ mediaStore }: Pick<MediaDeps, 'mediaStore'>, storageName: string): Promise<PictureDigest | undefined> =>
  mediaStore.fileNamed(storageName)

/** Counts the stored files of all shops: each picture has an original and smaller versions. */
export const countPictureFiles = ({ mediaStore }: Pick<MediaDeps, 'mediaStore'>): Promise<number> => mediaStore.countFiles()

/** A file that is missing, altered or unreachable. */
type PictureFault = { readonly file: PictureFile; readonly fault: 'MISSING' | 'ALTERED' | 'UNREACHABLE' }

/**
 * Reads every file completely and yields the faulty ones.
 * @param onSeen receives the number of files read
 */
export async function* findPictureFaults(
  deps: PictureFileDeps,
  onSeen: (files: number) => void = () => undefined,
): AsyncGenerator<PictureFault> {
  let [seen, page]: [number, PictureFile[]] = [0, []]
  do {
    page = await deps.mediaStore.filePage(page.at(-1)?.storageName ?? '', pageRows)
    for (const file of page) {
      const fault = await faultOf(deps, file)
      // A file that was removed meanwhile has no row.
      if (fault && (await deps.mediaStore.fileNamed(file.storageName))) yield { file, fault }
      onSeen(++seen)
    }
  } while (page.length === pageRows)
}

async function faultOf({ documentStores }: PictureFileDeps, file: PictureFile): Promise<PictureFault['fault'] | undefined> {
  const store = isPictureStore(file.store) ? documentStores.of(file.store) : undefined
  try {
    const found = store && (await store.get(file.storageName))
    if (!found) return store ? 'MISSING' : 'UNREACHABLE'
    return (await digestOfAll(found.chunks())) === file.digest ? undefined : 'ALTERED'
  } catch (error) {
    return isStoreUnavailable(error) ? 'UNREACHABLE' : 'ALTERED'
  }
}

/** Describes differences between stored counts and records. */
export async function describePictureDifferences({ mediaStore }: Pick<MediaDeps, 'mediaStore'>): Promise<string[]> {
  const { shops, unowned, uses } = await mediaStore.differences()
  return [
    ...shops.map(({ shop, counted, stored }) => `Shop ${shop}: ${counted} are counted, and ${stored} are stored`),
    ...unowned.map((hash) => `Picture ${hash}: no shop has it, or it has no file`),
    ...uses.map((product) => `Product ${product}: its images differ from the recorded uses of pictures`),
  ]
}

/** Removes files that a crash left in the decoding folder, after one day. */
export const removeLeftoverFiles = ({ pictureBench, clock }: Pick<MediaDeps, 'pictureBench' | 'clock'>): Promise<void> =>
  pictureBench.tidy(clock.now() - dayMs)
