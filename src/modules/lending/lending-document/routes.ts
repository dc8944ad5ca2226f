import { t } from 'elysia'
import type { ListRequest } from '../../../core/csv-list.ts'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import type { UploadRule } from '../../../http/route-table.ts'
import { noContent, routes } from '../../../http/routes.ts'
import { errorResponses, RecordId } from '../../../http/schema.ts'
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
          operationId: 'uploadLendingDocument',
          summary: 'Uploads a document',
          description: `The request body is the file. The checklist lists the accepted media types and the maximum size for this \`key\`. \`content-disposition\` can contain a file name. The first bytes must match \`content-type\`; otherwise the response is 415. A CSV file must be UTF-8 without NUL. The file is stored encrypted, and its item in \`documentationCompleted\` becomes \`UPLOADED\`.

In a draft, the file replaces the previous one. After submission, documents can be added until the decision but not replaced (409). A key that is not in the checklist is 404. \`ETag\` and \`If-Match\` are the application's. A merchant can upload four files at a time (429).`,
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
          operationId: 'listLendingDocuments',
          summary: 'Lists the documents of a lending application',
          description:
            'Returns the name, size and time of each uploaded file, at most one for each key of the checklist. By default, one page contains all.',
        },
      },
    )
    .get(path, async ({ params, shop }) => fileResponse(await readDocument(deps, { merchantId: shop.merchantId }, documentRefOf(params))), {
      access: { by: 'owner', while: whileOn(deps) },
      params: DocumentPath,
      response: { 200: DocumentFile, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'downloadLendingDocument',
        summary: 'Downloads a document',
        description: 'The response is the file, as an attachment with its original name.',
      },
    })
    .delete(
      path,
      ({ params, shop, actor, expected, set }) => noContent(set, removeDocument(deps, { shop, actor, expected }, documentRefOf(params))),
      {
        access: { by: 'approvedMerchant', while: whileOn(deps) },
        versioned: true,
        params: DocumentPath,
        response: { 204: t.Void({ description: 'The document was deleted' }), ...errorResponses(401, 403, 404, 409) },
        detail: {
          operationId: 'deleteLendingDocument',
          summary: 'Deletes a document',
          description: 'For drafts; the response is 409 after submission. The item in `documentationCompleted` becomes `REMOVED`.',
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
        operationId: 'reviewLendingDocument',
        summary: 'Downloads a document for review',
        description:
          "Returns the same file as the merchant's route. The access is recorded in the audit trail (`lending_document.read`) before the file is sent.",
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
