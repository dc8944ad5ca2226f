import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, notModified, RecordId } from '../../../http/schema.ts'
import { sliceOf } from '../../../lib/page.ts'
import {
  changeMethodology,
  listMethodologies,
  type MethodologyDeps,
  publicLender,
  publicMethodology,
  readMethodology,
  registerMethodology,
} from './index.ts'
import {
  ChangeMethodology,
  LenderParam,
  ListMethodologies,
  Methodologies,
  MethodologyParams,
  MethodologyRecord,
  PublicLender,
  PublicMethodology,
  RegisterMethodology,
} from './model.ts'

export const methodologyRoutes = (deps: HttpDeps & MethodologyDeps) =>
  routes(deps, 'Trust')
    .post('/admin/methodologies', ({ body, actor, once }) => once(201, (write) => registerMethodology(deps, { actor, write }, body)), {
      access: 'superAdmin',
      versioned: true,
      idempotent: true,
      body: RegisterMethodology,
      response: { 201: MethodologyRecord, ...errorResponses(401, 403, 409, 413, 415, 422) },
      detail: {
        operationId: 'createMethodology',
        summary: 'Creates a version of a methodology',
        description:
          'The version is `ACTIVE`, and the previous one becomes `SUPERSEDED` in the same transaction. The response is 409 if the lender has that version or hash already.',
      },
    })
    .get(
      '/admin/methodologies',
      ({ query: { lenderId, status, ...page } }) => listMethodologies(deps, { lenderId, status }, sliceOf(page)),
      {
        access: 'superAdmin',
        query: ListMethodologies,
        response: { 200: Methodologies, ...errorResponses(401, 403) },
        detail: { operationId: 'listMethodologies', summary: 'Lists methodologies', description: 'Returns versions, newest first.' },
      },
    )
    .get('/admin/methodologies/:id', ({ params }) => readMethodology(deps, params.id), {
      access: 'superAdmin',
      versioned: true,
      params: RecordId,
      response: { 200: MethodologyRecord, ...errorResponses(401, 403, 404) },
      detail: { operationId: 'getMethodology', summary: 'Returns a version of a methodology' },
    })
    .patch(
      '/admin/methodologies/:id',
      ({ params, body, actor, expected }) => changeMethodology(deps, { actor, expected }, params.id, body.status),
      {
        access: 'superAdmin',
        versioned: true,
        params: RecordId,
        body: ChangeMethodology,
        response: { 200: MethodologyRecord, ...errorResponses(401, 403, 404, 409, 413, 415) },
        detail: {
          operationId: 'updateMethodology',
          summary: 'Updates the status of a version of a methodology',
          description:
            'The status can change `ACTIVE → SUPERSEDED | REVOKED` and `SUPERSEDED → REVOKED`; any other change is 409. A new version also supersedes the previous one. If you supersede a version yourself, the lender has no active one. Setting the current status changes nothing.',
        },
      },
    )

/** Public routes of lenders and their methodologies. */
export const publicMethodologyRoutes = (deps: HttpDeps & MethodologyDeps) =>
  routes(deps, 'Trust')
    .get(
      '/v2/lenders/:lenderId',
      ({ params, request }) =>
        deps.answers.respond(request, async () => JSON.stringify(await publicLender(deps, params.lenderId))) as never,
      {
        access: 'public',
        params: LenderParam,
        response: { 200: PublicLender, 304: notModified, ...errorResponses(404) },
        detail: { operationId: 'getPublicLender', summary: 'Returns a lender' },
      },
    )
    .get(
      '/v2/methodologies/:lenderId/:hash',
      ({ params: { lenderId, hash }, request }) =>
        deps.answers.respond(request, async () => JSON.stringify(await publicMethodology(deps, lenderId, hash))) as never,
      {
        access: 'public',
        params: MethodologyParams,
        response: { 200: PublicMethodology, 304: notModified, ...errorResponses(404) },
        detail: {
          operationId: 'getPublicMethodology',
          summary: 'Returns a version of a methodology by its hash',
          description: 'The hash is not case-sensitive.',
        },
      },
    )
