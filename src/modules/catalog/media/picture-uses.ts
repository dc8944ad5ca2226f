/** Links products to the pictures of their shop. */
import type { Writer } from '../../../../db/engine.ts'
import { invalidField } from '../../../core/errors.ts'
import { expandPictureUrls, pathOf, pictureAt, pictureUrl } from './domain.ts'
import type { MediaDeps } from './providers.ts'
import { baseOf } from './service.ts'

type UseDeps = Pick<MediaDeps, 'mediaStore' | 'config' | 'life'>
type ImageSize = { readonly url: string; readonly width: number | null; readonly height: number | null }

/** Images as stored, and the ids of the shop's pictures among them; undefined if there never were any. */
export type ResolvedImages<Image> = { readonly images: Image[]; readonly mediaIds: readonly string[] | undefined }

/**
 * Resolves the images of a product that are pictures of its shop: stores their path and true size. Runs inside the
 * product's write.
 * @param before the previous images; without pictures in either, no query runs
 * @throws AppError INVALID for a picture that the shop does not have, naming the field
 */
export async function resolvePictures<Image extends ImageSize>(
  tx: Writer,
  deps: UseDeps,
  { shopId, images }: { readonly shopId: string; readonly images: readonly Image[] },
  before: readonly ImageSize[],
): Promise<ResolvedImages<Image>> {
  const base = baseOf(deps)
  const hashes = images.map(({ url }) => pictureAt(url, base === '' ? undefined : base))
  const usedHashes = [...new Set(hashes.filter((hash) => hash !== undefined))]
  if (usedHashes.length === 0) {
    const had = before.some(({ url }) => pictureAt(url, undefined) !== undefined)
    return { images: [...images], mediaIds: had ? [] : undefined }
  }
  const shopPictures = await deps.mediaStore.ownByHashes(shopId, usedHashes, tx)
  const byHash = new Map(shopPictures.map((picture) => [picture.hash, picture]))
  const resolved = images.map((image, at) => {
    const hash = hashes[at]
    if (hash === undefined) return image
    const picture = byHash.get(hash)
    if (!picture) throw invalidField(`images.${at}.url`, 'must be a picture of this shop: upload it with POST /media first')
    return { ...image, url: pathOf(hash), width: picture.width, height: picture.height }
  })
  return { images: resolved, mediaIds: shopPictures.map(({ id }) => id) }
}

/** Records which pictures a product shows. Its row must exist. */
export async function recordPictureUses(
  tx: Writer,
  { mediaStore }: UseDeps,
  productId: string,
  { mediaIds }: Pick<ResolvedImages<unknown>, 'mediaIds'>,
): Promise<void> {
  if (mediaIds) await mediaStore.setUses(tx, productId, mediaIds)
}

/** Replaces picture paths in a JSON record by current URLs. */
export const withPictureUrls = (deps: Pick<MediaDeps, 'config' | 'life'>, json: string): string => expandPictureUrls(json, baseOf(deps))

/** Replaces picture paths of images by current URLs. */
export function withImageUrls<Image extends { readonly url: string }>(
  deps: Pick<MediaDeps, 'config' | 'life'>,
  images: readonly Image[],
): Image[] {
  const base = baseOf(deps)
  return images.map((image) => ({ ...image, url: pictureUrl(image.url, base) }))
}
