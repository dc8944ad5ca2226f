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
        summary: 'Register a lender',
        description:
          'It begins as `PENDING_KYB`. Repayments may name a lender in any status. What its wallets attest of schemas B and C counts for the times in which it is `ACTIVE`.',
      },
    })
    .get('/admin/lenders', ({ query: { status, ...page } }) => listLenders(deps, status, sliceOf(page)), {
      access: 'superAdmin',
      query: ListLenders,
      response: { 200: Lenders, ...errorResponses(401, 403) },
      detail: { summary: 'Lenders', description: 'Newest first, each with what it was from when on.' },
    })
    .get('/admin/lenders/:id', ({ params }) => readLender(deps, params.id), {
      access: 'superAdmin',
      versioned: true,
      params: RecordId,
      response: { 200: LenderRecord, ...errorResponses(401, 403, 404) },
      detail: { summary: 'A lender' },
    })
    .patch('/admin/lenders/:id', ({ params, body, actor, expected }) => changeLender(deps, { actor, expected }, params.id, body), {
      access: 'superAdmin',
      versioned: true,
      params: RecordId,
      body: ChangeLender,
      response: { 200: LenderRecord, ...errorResponses(401, 403, 404, 409, 413, 415) },
      detail: {
        summary: 'Change a lender',
        description:
          'What is left out stays. `PENDING_KYB → ACTIVE ⇄ SUSPENDED → ARCHIVED`, and `PENDING_KYB → ARCHIVED`; any other change of the status is 409. Asked for the status that it has, nothing changes. `wallets` are all of them: what is left out is taken away, and counts no more; to end one, give it a `to`. 409 where somebody else has a wallet of that address at that time. Attestations are counted anew in the same write.',
      },
    })
