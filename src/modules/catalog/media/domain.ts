import type { media, pictureFiles, pictures } from '../../../../db/schema/media.ts'
import { isoTimes } from '../../../lib/objects.ts'
import type { PictureType } from '../../../lib/pictures/picture.ts'
import { hmac } from '../../../lib/seal.ts'

export type Picture = typeof pictures.$inferSelect
export type PictureFile = typeof pictureFiles.$inferSelect
export type Media = typeof media.$inferSelect
/** What a shop has, with what it is. */
export type OwnPicture = Media & Omit<Picture, 'hash' | 'createdAt'>

export const uploadBytesMax = 10 * 1024 * 1024
/** Of a shop, however small they are. */
export const picturesMax = 100_000
/** The widths in which a picture can be asked for. */
export const sizeWidths = [160, 320, 640, 1280] as const

/** The widths in which a picture of this width is made smaller: one that moves would stand still, and AVIF is not decoded. */
export const widthsFor = ({ type, width, frames }: Pick<Picture, 'type' | 'width' | 'frames'>): number[] =>
  frames > 1 || type === 'image/avif' ? [] : sizeWidths.filter((size) => size < width)

const hashLength = 32

/** What a picture is known by. Whoever has its bytes and has not handed them in cannot tell it. */
export const hashOf = (key: Buffer, digest: string): string => hmac({ bytes: key }, `picture/${digest}`).slice(0, hashLength)

const prefix = '/media/'
const path = /^\/media\/([0-9a-f]{32})(?:-([1-9]\d{0,4}))?$/

/** Where a picture is, below the address of the instance: what is kept of it in a product. */
export const pathOf = (hash: string, width?: number): string => `${prefix}${hash}${width === undefined ? '' : `-${width}`}`

/** What such a path, or its last part, names; undefined where it is none. */
export function pictureIn(text: string): { hash: string; width: number | undefined } | undefined {
  const [, hash, width] = path.exec(text.startsWith('/') ? text : `${prefix}${text}`) ?? []
  return hash === undefined ? undefined : { hash, width: width === undefined ? undefined : Number(width) }
}

/**
 * The picture that an address is, as its shop writes it: absolute under where the instance is reached, in any of its widths, or below it.
 * @param base where the instance is reached, without a slash at its end
 */
export function pictureAt(url: string, base: string | undefined): string | undefined {
  const below = base !== undefined && url.startsWith(`${base}/`) ? url.slice(base.length) : url
  return below.startsWith(prefix) ? pictureIn(below)?.hash : undefined
}

/**
 * JSON with the addresses of pictures as they are called. In JSON a quote stands unescaped at the ends of texts alone, so that this is a
 * field of that name and nothing that somebody has written.
 */
export const withAddresses = (json: string, base: string): string =>
  json.includes(kept) ? json.replaceAll(kept, () => `"url":"${base}${prefix}`) : json
const kept = `"url":"${prefix}`

/** Where a picture is read that a product refers to; any other address as it is. */
export const addressOf = (url: string, base: string): string => (url.startsWith(prefix) ? `${base}${url}` : url)

/** The file of a picture that is sent for a width: that one, else the next larger, else itself. */
export function fileFor<File extends Pick<PictureFile, 'width'>>(files: readonly File[], width: number | undefined): File | undefined {
  const original = files.find((file) => file.width === 0)
  if (width === undefined) return original
  const fitting = files.filter((file) => file.width >= width).sort((a, b) => a.width - b.width)
  return fitting[0] ?? original
}

/** How a file is called by whoever saves it. */
export const endings: Readonly<Record<PictureType, string>> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
}

/** @param base where the instance is reached */
export function mediaView({ id, hash, type, width, height, bytes, frames, createdAt }: OwnPicture, base: string) {
  return {
    id,
    url: `${base}${pathOf(hash)}`,
    width,
    height,
    type,
    bytes,
    animated: frames > 1,
    sizes: widthsFor({ type, width, frames }).map((size) => ({ width: size, url: `${base}${pathOf(hash, size)}` })),
    ...isoTimes({ createdAt }),
  }
}
export type MediaView = ReturnType<typeof mediaView>
