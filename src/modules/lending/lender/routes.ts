import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, RecordId } from '../../../http/schema.ts'
import { sliceOf } from '../../../lib/page.ts'
import { changeLender, createLender, type LenderDeps, listLenders, readLender } from './index.ts'
import { ChangeLender, CreateLender, LenderRecord, Lenders, ListLenders } from './model.ts'

export const lenderRoutes = (deps: HttpDeps & LenderDeps) =>
  routes(deps, 'Credit')
    .post('/admin/lenders', ({ body, actor, once }) => once(201, (write) => createLender(deps, { actor, write }, body)), {
      access: 'superAdmin',
      versioned: true,
      idempotent: true,
      body: CreateLender,
      response: { 201: LenderRecord, ...errorResponses(401, 403, 409, 413, 415, 422) },
      detail: {
        operationId: 'createLender',
        summary: 'Creates a lender',
        description:
          'The status is `PENDING_KYB`. Repayments can name a lender of any status. Attestations of schemas B and C by its wallets count for the periods in which it is `ACTIVE`.',
      },
    })
    .get('/admin/lenders', ({ query: { status, ...page } }) => listLenders(deps, status, sliceOf(page)), {
      access: 'superAdmin',
      query: ListLenders,
      response: { 200: Lenders, ...errorResponses(401, 403) },
      detail: {
        operationId: 'listLenders',
        summary: 'Lists lenders',
        description: 'Returns lenders, newest first, with the history of their status.',
      },
    })
    .get('/admin/lenders/:id', ({ params }) => readLender(deps, params.id), {
      access: 'superAdmin',
      versioned: true,
      params: RecordId,
      response: { 200: LenderRecord, ...errorResponses(401, 403, 404) },
      detail: { operationId: 'getLender', summary: 'Returns a lender' },
    })
    .patch('/admin/lenders/:id', ({ params, body, actor, expected }) => changeLender(deps, { actor, expected }, params.id, body), {
      access: 'superAdmin',
      versioned: true,
      params: RecordId,
      body: ChangeLender,
      response: { 200: LenderRecord, ...errorResponses(401, 403, 404, 409, 413, 415) },
      detail: {
        operationId: 'updateLender',
        summary: 'Updates a lender',
        description:
          'Fields that you leave out keep their values. The status can change `PENDING_KYB → ACTIVE ⇄ SUSPENDED → ARCHIVED` and `PENDING_KYB → ARCHIVED`; any other change is 409. Setting the current status changes nothing. `wallets` replaces the whole list: wallets that you leave out are removed and no longer count. To end one, set its `to`. The response is 409 if the address belongs to someone else at that time. Attestations are recounted in the same transaction.',
      },
    })
