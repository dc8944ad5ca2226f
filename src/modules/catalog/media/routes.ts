import { t } from 'elysia'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { matchesEtag } from '../../../http/public-cache.ts'
import type { UploadRule } from '../../../http/route-table.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, notModified, pageQuery } from '../../../http/schema.ts'
import { uploads } from '../../../http/upload.ts'
import { sliceOf } from '../../../lib/page.ts'
import { type PictureType, pictureTypes } from '../../../lib/pictures/index.ts'
import { fileExtensions, sizeWidths, uploadBytesMax } from './domain.ts'
import { addPicture, listPictures, type MediaDeps, publicPicture, removePicture } from './index.ts'
import { AddedMedia, MediaList, PictureFile, PictureName } from './model.ts'

/** Any declared content type: the type is detected from the bytes. */
const uploadRule: UploadRule = { types: pictureTypes, bytesMax: uploadBytesMax, anyType: true }

export const mediaRoutes = (deps: HttpDeps & MediaDeps) =>
  routes(deps, 'Media')
    .use(uploads(deps))
    .post(
      '/media',
      async ({ shop, actor, upload, set }) => {
        const added = await addPicture(deps, { shop, actor }, upload)
        set.status = 201
        return added
      },
      {
        access: 'management',
        upload: uploadRule,
        response: { 201: AddedMedia, ...errorResponses(400, 401, 403, 404, 408, 409, 413, 415, 429) },
        detail: {
          summary: 'Hand in a picture',
          description: `The body is the picture, one, at most 10 MB and 50 megapixels, no side longer than 32,767 pixels; of what moves, at most 1,000 frames. What it is, its own bytes tell, and not \`content-type\`: 415 for what is none of the formats, 400 for one that is damaged or cut short, 413 for one that claims too many pixels. Pixels stay as they are, and metadata goes: EXIF with places, XMP, IPTC, comments and what stands behind the end. Color profiles stay, and so does how a JPEG is to be turned; \`width\` and \`height\` are as it is shown. Smaller ones, of ${sizeWidths.join(', ')} pixels, are made as WebP: not of what moves, and not of AVIF, which are sent as they are at every width. The same picture again is the record that is there, and \`known\` says so. 409 beyond the quota of the shop (\`MEDIA_QUOTA_MB\`). At most eight at a time of a shop: 429.`,
        },
      },
    )
    .get('/media', ({ query, shop }) => listPictures(deps, shop, sliceOf(query)), {
      access: 'catalogRead',
      query: t.Object(pageQuery),
      csv: csvOf('media', MediaList, ({ shop }, slice) => listPictures(deps, shop, slice)),
      response: { 200: MediaList, ...errorResponses(401, 403, 404) },
      detail: { summary: "The shop's pictures", description: 'Newest first, whether or not a product shows them.' },
    })
    .delete(
      '/media/:name',
      async ({ params, shop, actor, expected, set }) => {
        await removePicture(deps, { shop, actor, expected }, params.name)
        set.status = 204
      },
      {
        access: 'management',
        versioned: true,
        params: PictureName,
        response: { 204: t.Void({ description: 'The picture is gone' }), ...errorResponses(401, 403, 404, 409) },
        detail: {
          summary: 'Remove a picture',
          description:
            'By its `id`. 409 while a product shows it, also one that is archived. Its address answers 404 from then on, unless another shop has handed in the same picture; caches may show it for longer. A record never changes: to `If-Match` it is `"v1"` for ever.',
        },
      },
    )

/** Prevents scripts, whatever type a browser detects. */
const safeHeaders = {
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
}

export const publicMediaRoutes = (deps: HttpDeps & MediaDeps) =>
  routes(deps, 'Media').get(
    '/media/:name',
    async ({ params, request }) => {
      const { etag, file, open } = await publicPicture(deps, params.name)
      const headers = { ...safeHeaders, etag }
      if (matchesEtag(request.headers, etag)) return new Response(null, { status: 304, headers }) as never
      const document = await open()
      const body = request.method === 'HEAD' ? null : streamOf(document.chunks())
      return new Response(body, {
        headers: {
          ...headers,
          'content-type': file.type,
          'content-length': String(file.bytes),
          'content-disposition': `inline; filename="${params.name}.${fileExtensions[file.type as PictureType]}"`,
        },
      }) as never
    },
    {
      access: 'public',
      takesNoTurn: true,
      params: PictureName,
      response: { 200: PictureFile, 304: notModified, ...errorResponses(404) },
      detail: {
        summary: 'A picture',
        description: `By \`{hash}\`, or smaller by \`{hash}-{width}\`, a width of ${sizeWidths.join(', ')}: the next larger one, or the picture itself, where there is none so small. The address never shows anything else, so it may be kept for ever; a query is ignored, and ranges are not served.`,
      },
    },
  )

/** Streams chunks on demand. Cancelling ends the reading. */
function streamOf(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next()
          if (done) controller.close()
          // Copied, because the next chunk is read into the same buffer.
          else controller.enqueue(new Uint8Array(value))
        } catch {
          // A response that has begun can only be cut off. Bun would print an error with source code.
          controller.error(undefined)
        }
      },
      async cancel() {
        await chunks.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}
