/** What products show of the pictures of their shop. */
import type { Writer } from '../../../../db/engine.ts'
import { AppError } from '../../../core/errors.ts'
import { addressOf, pathOf, pictureAt, withAddresses } from './domain.ts'
import type { MediaDeps } from './providers.ts'
import { baseOf } from './service.ts'

type UseDeps = Pick<MediaDeps, 'mediaStore' | 'config' | 'life'>
type Shown = { readonly url: string; readonly width: number | null; readonly height: number | null }

/** What a product shows: its images as they are kept, and which pictures they are; undefined where it never had any. */
export type ShownPictures<Image> = { readonly images: Image[]; readonly mediaIds: readonly string[] | undefined }

/**
 * The images of a product with those of its shop's own pictures as references, of their true size: inside the product's write.
 * @param before as they were: where neither has any, nothing is asked
 * @throws AppError INVALID for a picture that the shop does not have, naming the field
 */
export async function showPictures<Image extends Shown>(
  tx: Writer,
  deps: UseDeps,
  { shopId, images }: { readonly shopId: string; readonly images: readonly Image[] },
  before: readonly Shown[],
): Promise<ShownPictures<Image>> {
  const base = baseOf(deps)
  const hashes = images.map(({ url }) => pictureAt(url, base === '' ? undefined : base))
  const named = [...new Set(hashes.filter((hash) => hash !== undefined))]
  if (named.length === 0) {
    const had = before.some(({ url }) => pictureAt(url, undefined) !== undefined)
    return { images: [...images], mediaIds: had ? [] : undefined }
  }
  const own = await deps.mediaStore.ownByHashes(shopId, named, tx)
  const byHash = new Map(own.map((picture) => [picture.hash, picture]))
  const shown = images.map((image, at) => {
    const hash = hashes[at]
    if (hash === undefined) return image
    const picture = byHash.get(hash)
    if (!picture) throw new AppError('INVALID', `images.${at}.url (body): no picture of this shop; hand it in by POST /media first`)
    return { ...image, url: pathOf(hash), width: picture.width, height: picture.height }
  })
  return { images: shown, mediaIds: own.map(({ id }) => id) }
}

/** Notes which pictures a product shows, once its row is there. */
export async function noteShown(
  tx: Writer,
  { mediaStore }: UseDeps,
  productId: string,
  { mediaIds }: Pick<ShownPictures<unknown>, 'mediaIds'>,
): Promise<void> {
  if (mediaIds) await mediaStore.setUses(tx, productId, mediaIds)
}

/** A record as JSON with the addresses of pictures as they are called now. */
export const withPictureAddresses = (deps: Pick<MediaDeps, 'config' | 'life'>, json: string): string => withAddresses(json, baseOf(deps))

/** Images with the addresses at which they are read. */
export function withImageAddresses<Image extends { readonly url: string }>(
  deps: Pick<MediaDeps, 'config' | 'life'>,
  images: readonly Image[],
): Image[] {
  const base = baseOf(deps)
  return images.map((image) => ({ ...image, url: addressOf(image.url, base) }))
}
