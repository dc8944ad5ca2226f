import { t } from 'elysia'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { matchesEtag } from '../../../http/public-response.ts'
import type { UploadRule } from '../../../http/route-table.ts'
import { noContent, routes } from '../../../http/routes.ts'
import { errorResponses, notModified, pageQuery } from '../../../http/schema.ts'
import { sliceOf } from '../../../lib/page.ts'
import { type PictureType, pictureTypes } from '../../../lib/pictures/index.ts'
import { fileExtensions, sizeWidths, uploadBytesMax } from './domain.ts'
import { addPicture, listPictures, type MediaDeps, publicPicture, removePicture } from './index.ts'
import { AddedMedia, MediaList, PictureFile, PictureName } from './model.ts'

/** Any declared content type: the type is detected from the bytes. */
const uploadRule: UploadRule = { types: pictureTypes, bytesMax: uploadBytesMax, anyType: true }

export const mediaRoutes = (deps: HttpDeps & MediaDeps) =>
  routes(deps, 'Media')
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
          operationId: 'uploadMedia',
          summary: 'Uploads a picture',
          description: `The request body is the file: at most 10 MB, 50 megapixels, 32,767 pixels a side and, if animated, 1,000 frames. The format is detected from the file's content, not from \`content-type\`.

Metadata is removed (EXIF with locations, XMP, IPTC, comments and data after the end); pixels and color profiles are kept. JPEG rotation is kept too: \`width\` and \`height\` are those displayed. WebP versions are created in widths of ${sizeWidths.join(', ')} pixels, except of animated and AVIF pictures, which are served unchanged at every width. If the shop already has the picture, the response is the existing record with \`known: true\`.

Errors: 415 for other formats, 400 for a damaged file, 413 for too many pixels, 409 if the shop's quota (\`MEDIA_QUOTA_MB\`) is used up, and 429 for more than eight uploads of a shop at once.`,
        },
      },
    )
    .get('/media', ({ query, shop }) => listPictures(deps, shop, sliceOf(query)), {
      access: 'catalogRead',
      query: t.Object(pageQuery),
      csv: csvOf('media', MediaList, ({ shop }, slice) => listPictures(deps, shop, slice)),
      response: { 200: MediaList, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'listMedia',
        summary: 'Lists pictures',
        description: "Returns the shop's pictures, newest first, including those that no product shows.",
      },
    })
    .delete(
      '/media/:name',
      ({ params, shop, actor, expected, set }) => noContent(set, removePicture(deps, { shop, actor, expected }, params.name)),
      {
        access: 'management',
        versioned: true,
        params: PictureName,
        response: { 204: t.Void({ description: 'The picture was deleted' }), ...errorResponses(401, 403, 404, 409) },
        detail: {
          operationId: 'deleteMedia',
          summary: 'Deletes a picture',
          description:
            'The path parameter is the picture\'s `id`. The response is 409 while a product, including an archived one, shows the picture. Afterwards its URL returns 404, unless another shop uploaded the same picture; caches may show it for longer. A record never changes, so its `ETag` is always `"v1"`.',
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
        operationId: 'downloadMedia',
        summary: 'Returns a picture',
        description: `\`{hash}\` returns the original and \`{hash}-{width}\` a smaller version. Widths are ${sizeWidths.join(', ')}. If there is no version of that width, the next larger one or the original is returned. Cache the picture without a time limit: a URL always returns the same one. Queries are ignored, and ranges are not supported.`,
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
