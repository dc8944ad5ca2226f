import type { media, pictureFiles, pictures } from '../../../../db/schema/media.ts'
import { isoTimes } from '../../../lib/objects.ts'
import type { PictureType } from '../../../lib/pictures/picture.ts'
import { hmac } from '../../../lib/seal.ts'

export type Picture = typeof pictures.$inferSelect
export type PictureFile = typeof pictureFiles.$inferSelect
export type Media = typeof media.$inferSelect
/** A picture of a shop with the properties of its content. */
export type ShopPicture = Media & Omit<Picture, 'hash' | 'createdAt'>

export const uploadBytesMax = 10 * 1024 * 1024
/** Pictures per shop. */
export const picturesMax = 100_000
/** The widths in which a picture is available. */
export const sizeWidths = [160, 320, 640, 1280] as const

/** Returns the smaller widths that are rendered. None for animations and for AVIF, which cannot be decoded. */
export const widthsFor = ({ type, width, frames }: Pick<Picture, 'type' | 'width' | 'frames'>): number[] =>
  frames > 1 || type === 'image/avif' ? [] : sizeWidths.filter((size) => size < width)

const hashLength = 32

/** Returns the public name of a picture. Keyed, so that it cannot be computed from the picture's bytes. */
export const hashOf = (key: Buffer, digest: string): string => hmac({ bytes: key }, `picture/${digest}`).slice(0, hashLength)

const prefix = '/media/'
const path = /^\/media\/([0-9a-f]{32})(?:-([1-9]\d{0,4}))?$/

/** Returns the path of a picture relative to the instance's URL. Products store this path. */
export const pathOf = (hash: string, width?: number): string => `${prefix}${hash}${width === undefined ? '' : `-${width}`}`

/** Parses the path of a picture or its last part; undefined for other text. */
export function pictureIn(text: string): { hash: string; width: number | undefined } | undefined {
  const [, hash, width] = path.exec(text.startsWith('/') ? text : `${prefix}${text}`) ?? []
  return hash === undefined ? undefined : { hash, width: width === undefined ? undefined : Number(width) }
}

/**
 * Returns the hash of the picture that a URL shows, absolute or relative, in any width.
 * @param base URL of the instance, without a trailing slash
 */
export function pictureAt(url: string, base: string | undefined): string | undefined {
  const below = base !== undefined && url.startsWith(`${base}/`) ? url.slice(base.length) : url
  return below.startsWith(prefix) ? pictureIn(below)?.hash : undefined
}

/**
 * Replaces stored picture paths in JSON by URLs. In JSON an unescaped quote only delimits strings, so the match is a
 * field `url` and never part of a text.
 */
export const expandPictureUrls = (json: string, base: string): string =>
  json.includes(storedPrefix) ? json.replaceAll(storedPrefix, () => `"url":"${base}${prefix}`) : json
const storedPrefix = `"url":"${prefix}`

/** Returns the URL of a picture path; other URLs are unchanged. */
export const pictureUrl = (url: string, base: string): string => (url.startsWith(prefix) ? `${base}${url}` : url)

/** Returns the file for a width: the same or the next larger one, else the original. */
export function fileFor<File extends Pick<PictureFile, 'width'>>(files: readonly File[], width: number | undefined): File | undefined {
  const original = files.find((file) => file.width === 0)
  if (width === undefined) return original
  const fitting = files.filter((file) => file.width >= width).sort((a, b) => a.width - b.width)
  return fitting[0] ?? original
}

/** File extensions for downloads. */
export const fileExtensions: Readonly<Record<PictureType, string>> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
}

/** @param base URL of the instance */
export function mediaView({ id, hash, type, width, height, bytes, frames, createdAt }: ShopPicture, base: string) {
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
