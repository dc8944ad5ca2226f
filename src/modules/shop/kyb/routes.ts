import { AppError } from '../../../core/errors.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, RecordId } from '../../../http/schema.ts'
import { sliceOf } from '../../../lib/page.ts'
import { decideKyb, fileKyb, findKybOf, type KybDeps, listKyb, readKyb } from './index.ts'
import { AdminKybRecord, AdminKybRecords, DecideKyb, FileKyb, KybRecord, ListKyb } from './model.ts'

export const kybRoutes = (deps: HttpDeps & KybDeps) =>
  routes(deps, 'KYB')
    .post('/kyb', ({ body, shop, actor, once }) => once(201, (write) => fileKyb(deps, { shop, actor, write }, body)), {
      access: 'owner',
      versioned: true,
      idempotent: true,
      exactNumbers: true,
      body: FileKyb,
      response: { 201: KybRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
      detail: {
        operationId: 'createKybRecord',
        summary: 'Creates a KYB record',
        description:
          "Describes the merchant's business, for all of the merchant's shops. An operator approves or rejects it: `PENDING → APPROVED | REJECTED`. The response is 409 while a record is pending or approved; after a rejection you can send another. Shares may add up to less than 100. The operator checks whether the cohort matches the country.",
      },
    })
    .get(
      '/kyb',
      async ({ shop }) => {
        const record = await findKybOf(deps, shop.merchantId)
        if (!record) throw new AppError('NOT_FOUND', 'No KYB record was filed yet')
        return record
      },
      {
        access: 'owner',
        versioned: true,
        response: { 200: KybRecord, ...errorResponses(401, 403, 404) },
        detail: {
          operationId: 'getOwnKybRecord',
          summary: "Returns the caller's KYB record",
          description:
            'Returns the pending or approved record or, if there is none, the last rejected one with its reason. The response is 404 if there is no record.',
        },
      },
    )

export const kybAdminRoutes = (deps: HttpDeps & KybDeps) =>
  routes(deps, 'Administration')
    .get('/admin/kyb', ({ query: { status, sort, ...page } }) => listKyb(deps, { status, sort }, sliceOf(page)), {
      access: 'superAdmin',
      query: ListKyb,
      response: { 200: AdminKybRecords, ...errorResponses(401, 403) },
      detail: {
        operationId: 'listKybRecords',
        summary: 'Lists KYB records',
        description:
          'Returns records of all merchants with their history. `status=PENDING&sort=oldest` lists those that have waited longest first.',
      },
    })
    .get('/admin/kyb/:id', ({ params }) => readKyb(deps, params.id), {
      access: 'superAdmin',
      versioned: true,
      params: RecordId,
      response: { 200: AdminKybRecord, ...errorResponses(401, 403, 404) },
      detail: { operationId: 'getKybRecord', summary: 'Returns a KYB record' },
    })
    .post(
      '/admin/kyb/:id/decision',
      ({ params, body: { decision, reason }, actor, expected }) =>
        decideKyb(deps, { actor, expected }, params.id, { decision, reason: reason ?? null }),
      {
        access: 'superAdmin',
        versioned: true,
        params: RecordId,
        body: DecideKyb,
        response: { 200: AdminKybRecord, ...errorResponses(401, 403, 404, 409, 413, 415) },
        detail: {
          operationId: 'decideKybRecord',
          summary: 'Decides on a KYB record',
          description:
            "A record is decided once: a second decision is 409. Approval makes the merchant's shops `KYB_VERIFIED`, including shops opened later; a suspended shop becomes so when it is restored.",
        },
      },
    )
