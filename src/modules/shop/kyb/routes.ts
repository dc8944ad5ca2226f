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
        summary: 'File what the business is',
        description:
          'For the merchant, and so for all of their shops. An operator decides about it: `PENDING → APPROVED | REJECTED`. 409 while a record is pending or approved; after a rejection another one may be filed. Shares that add up to less than 100 are taken as they are. Whether the cohort fits the country is for the operator to judge.',
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
          summary: "The merchant's KYB record",
          description:
            'The one that is pending or approved, else the one that was rejected last, with the reason. 404 before any was filed.',
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
        summary: 'KYB records',
        description: 'Of all merchants, with who did what and why. Those that wait longest are the first of `status=PENDING&sort=oldest`.',
      },
    })
    .get('/admin/kyb/:id', ({ params }) => readKyb(deps, params.id), {
      access: 'superAdmin',
      versioned: true,
      params: RecordId,
      response: { 200: AdminKybRecord, ...errorResponses(401, 403, 404) },
      detail: { summary: 'A KYB record' },
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
          summary: 'Decide about a KYB record',
          description:
            'Once: of two decisions at once the second is 409. Approval makes the shops of the merchant `KYB_VERIFIED`, those too that they open later; a suspended one is so once it is restored.',
        },
      },
    )
