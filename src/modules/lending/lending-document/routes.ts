import { t } from 'elysia'
import type { ListRequest } from '../../../core/csv-list.ts'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import type { UploadRule } from '../../../http/route-table.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, RecordId } from '../../../http/schema.ts'
import { uploads } from '../../../http/upload.ts'
import { sliceOf } from '../../../lib/page.ts'
import { acceptedTypes } from '../application/index.ts'
import { attachmentOf, documentsLimit, documentTypes, fileNameOf } from './domain.ts'
import { type LendingDocumentDeps, listDocuments, putDocument, readDocument, readDocumentAsOperator, removeDocument } from './index.ts'
import { DocumentFile, DocumentPath, LendingDocument, LendingDocuments, ListDocuments } from './model.ts'

/** The largest limit of all classes. The limit of the class is applied once the document is known. */
const uploadRule: UploadRule = { types: documentTypes, bytesMax: 25 * 1024 * 1024, typesOf: ({ key = '' }) => acceptedTypes(key) }

const path = '/lending-application/:id/documents/:key'
const whileOn =
  ({ config }: HttpDeps) =>
  () =>
    config.lendingPlatformEnabled

export const lendingDocumentRoutes = (deps: HttpDeps & LendingDocumentDeps) =>
  routes(deps, 'Lending')
    .use(uploads(deps))
    .put(
      path,
      ({ params, shop, actor, expected, upload, request }) =>
        putDocument(deps, { shop, actor, expected }, documentRefOf(params), {
          type: upload.type,
          length: upload.length,
          fileName: fileNameOf(request.headers.get('content-disposition')),
          chunks: upload.chunks,
        }),
      {
        access: { by: 'approvedMerchant', while: whileOn(deps) },
        versioned: true,
        upload: uploadRule,
        params: DocumentPath,
        response: { 200: LendingDocument, ...errorResponses(401, 403, 404, 408, 409, 413, 415, 429) },
        detail: {
          summary: 'Hand in a document',
          description: `The body is the file, of one of the media types and at most as large as the checklist says of this \`key\`; \`content-disposition\` may name it. What it begins with must be of the type that \`content-type\` declares, else 415; a CSV is UTF-8 without NUL. It is kept sealed and never unpacked. Its item of \`documentationCompleted\` is \`UPLOADED\` from then on. In a draft another file takes its place; once submitted, documents may be added until the application is decided, and none replaced: 409. 404 for a key that the checklist of the application does not have. \`ETag\` and \`If-Match\` are the application's. At most four at a time of a merchant: 429.`,
        },
      },
    )
    .get(
      '/lending-application/:id/documents',
      ({ params, shop, query: { page, limit = String(documentsLimit) } }) =>
        listDocuments(deps, shop.merchantId, params.id, sliceOf({ page, limit }, documentsLimit)),
      {
        access: { by: 'owner', while: whileOn(deps) },
        csv: csvOf(
          'lending-documents',
          LendingDocuments,
          ({ shop, params }: ListRequest<object, { id: string }>, slice) => listDocuments(deps, shop.merchantId, params.id, slice),
          { keyOf: ({ key }) => key, order: 'asc' },
        ),
        params: RecordId,
        query: ListDocuments,
        response: { 200: LendingDocuments, ...errorResponses(401, 403, 404) },
        detail: {
          summary: 'The documents that were handed in',
          description:
            'What each file is called, how large it is and when it came, by the keys of the checklist: at most one of each. One page has them all, unless it is asked for fewer.',
        },
      },
    )
    .get(path, async ({ params, shop }) => fileResponse(await readDocument(deps, { merchantId: shop.merchantId }, documentRefOf(params))), {
      access: { by: 'owner', while: whileOn(deps) },
      params: DocumentPath,
      response: { 200: DocumentFile, ...errorResponses(401, 403, 404) },
      detail: {
        summary: 'A document that was handed in',
        description: 'The file, always as an attachment, under the name that it came with.',
      },
    })
    .delete(
      path,
      async ({ params, shop, actor, expected, set }) => {
        await removeDocument(deps, { shop, actor, expected }, documentRefOf(params))
        set.status = 204
      },
      {
        access: { by: 'approvedMerchant', while: whileOn(deps) },
        versioned: true,
        params: DocumentPath,
        response: { 204: t.Void({ description: 'The document is gone' }), ...errorResponses(401, 403, 404, 409) },
        detail: {
          summary: 'Take a document back',
          description: 'In a draft; 409 once it was submitted. Its item of `documentationCompleted` is `REMOVED` from then on.',
        },
      },
    )

export const lendingDocumentAdminRoutes = (deps: HttpDeps & LendingDocumentDeps) =>
  routes(deps, 'Administration').get(
    `/admin${path}`,
    async ({ params, actor }) => fileResponse(await readDocumentAsOperator(deps, { actor }, documentRefOf(params))),
    {
      access: { by: 'superAdmin', while: whileOn(deps) },
      params: DocumentPath,
      response: { 200: DocumentFile, ...errorResponses(401, 403, 404) },
      detail: {
        summary: 'A document of a lending application',
        description: 'As its merchant gets it. That an operator read it is on record (`lending_document.read`) before it is sent.',
      },
    },
  )

const documentRefOf = ({ id, key }: { id: string; key: string }) => ({ applicationId: id, key })

/** Builds a download that is always saved. The file is read as it is sent; a client that leaves ends the reading. */
function fileResponse({ document, content }: Awaited<ReturnType<typeof readDocument>>): Response {
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await content.next()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch {
          // The error is in the log, and a started response can only break off. Bun would print any error with its
          // source.
          controller.error(undefined)
        }
      },
      async cancel() {
        await content.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, {
    headers: {
      'content-type': document.mimeType,
      'content-length': String(document.size),
      'content-disposition': attachmentOf(document),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  })
}
