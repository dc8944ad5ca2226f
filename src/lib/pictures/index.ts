import { cleanAvif, isAvif } from './avif.ts'
import { cleanGif } from './gif.ts'
import { cleanJpeg } from './jpeg.ts'
import { type CleanPicture, hasText, type PictureBounds, PictureRefused, pictureBounds } from './picture.ts'
import { cleanPng } from './png.ts'
import { cleanWebp } from './webp.ts'

export { type CleanPicture, PictureRefused, type PictureType, pictureTypes } from './picture.ts'

type Format = { readonly is: (bytes: Uint8Array) => boolean; readonly clean: (bytes: Uint8Array, bounds: PictureBounds) => CleanPicture }

const formats: readonly Format[] = [
  { is: (bytes) => bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff, clean: cleanJpeg },
  { is: (bytes) => bytes[0] === 0x89 && hasText(bytes, 1, 'PNG\r\n\x1a\n'), clean: cleanPng },
  { is: (bytes) => hasText(bytes, 0, 'RIFF') && hasText(bytes, 8, 'WEBP'), clean: cleanWebp },
  { is: (bytes) => hasText(bytes, 0, 'GIF87a') || hasText(bytes, 0, 'GIF89a'), clean: cleanGif },
  { is: isAvif, clean: cleanAvif },
]

/** Bytes that suffice to detect a format. */
export const headBytes = 64

/** Returns whether bytes start like a supported format. */
export const beginsAsPicture = (head: Uint8Array): boolean => formats.some(({ is }) => is(head))

/** Creates the error for a file of no supported format. */
export const notAPicture = () =>
  new PictureRefused('UNKNOWN', 'The file is not a picture in a supported format: JPEG, PNG, WebP, GIF or AVIF')

/**
 * Removes metadata from a picture without decoding or changing its pixels.
 * @throws PictureRefused if it is invalid, incomplete, or claims too many pixels
 */
export function cleanPicture(bytes: Uint8Array, bounds: PictureBounds = pictureBounds): CleanPicture {
  const format = formats.find(({ is }) => is(bytes))
  if (!format) throw notAPicture()
  return format.clean(bytes, bounds)
}
