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

/** So many bytes are enough to tell a format. */
export const headBytes = 64

/** Whether bytes begin as one of the formats does. */
export const beginsAsPicture = (head: Uint8Array): boolean => formats.some(({ is }) => is(head))

export const notAPicture = () =>
  new PictureRefused('UNKNOWN', 'The body is none of the pictures that are taken, by its own bytes: JPEG, PNG, WebP, GIF or AVIF')

/**
 * Looks through a picture, and leaves out what does not show it. Nothing is decoded, and no pixel changes.
 * @throws PictureRefused where it is none, is not whole, or claims to be larger than it may
 */
export function cleanPicture(bytes: Uint8Array, bounds: PictureBounds = pictureBounds): CleanPicture {
  const format = formats.find(({ is }) => is(bytes))
  if (!format) throw notAPicture()
  return format.clean(bytes, bounds)
}
