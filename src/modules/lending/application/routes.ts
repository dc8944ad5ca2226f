import type { ListRequest } from '../../../core/csv-list.ts'
import { invalidField } from '../../../core/errors.ts'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, RecordId } from '../../../http/schema.ts'
import { sliceOf } from '../../../lib/page.ts'
import {
  createApplication,
  createApplicationFor,
  type LendingDeps,
  listApplications,
  readApplication,
  readChecklist,
  submitApplication,
  updateApplication,
  withdrawApplication,
} from './index.ts'
import {
  CreateApplication,
  LendingApplication,
  LendingApplications,
  LendingChecklist,
  ListApplications,
  UpdateApplication,
  WithdrawApplication,
} from './model.ts'

/** Routes for merchants. They answer 404 while the lending platform is switched off. */
export const lendingRoutes = (deps: HttpDeps & LendingDeps) => {
  const isOn = () => deps.config.lendingPlatformEnabled
  const owner = { by: 'owner', while: isOn } as const
  const approvedMerchant = { by: 'approvedMerchant', while: isOn } as const
  return routes(deps, 'Lending')
    .post(
      '/lending-application',
      ({ body, principal, shop, actor, once }) =>
        once(201, async (write) => {
          if (principal.kind === 'merchant') return createApplication(deps, { shop, actor, write }, body)
          const { merchantId, cohort } = body
          if (merchantId === undefined) throw invalidField('merchantId', 'required for operators')
          return createApplicationFor(deps, { actor, write }, { merchantId, cohort })
        }),
      {
        access: { by: 'approvedMerchantOrSuperAdmin', while: isOn },
        versioned: true,
        idempotent: true,
        largeJson: true,
        body: CreateApplication,
        response: { 201: LendingApplication, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'createLendingApplication',
          summary: 'Creates a lending application',
          description:
            "The cohort is that of the merchant's approved KYB record. It determines the tier: `TIER_1_REFERRAL` for cohorts of the Gulf, Mongolia and the US, otherwise `TIER_2_PARTNER`. A super admin creates a draft for a merchant with `{ merchantId, cohort }`, and can choose another cohort. The response is 403 without an approved KYB record or for another merchant's `merchantId`, and 409 if the merchant has 50 drafts.",
        },
      },
    )
    .get(
      '/lending-application',
      ({ query: { merchantId, ...page }, shop }) => listApplications(deps, shop.merchantId, merchantId, sliceOf(page)),
      {
        access: owner,
        csv: csvOf('lending-applications', LendingApplications, ({ shop, query }: ListRequest<{ merchantId?: string }>, slice) =>
          listApplications(deps, shop.merchantId, query.merchantId, slice),
        ),
        query: ListApplications,
        response: { 200: LendingApplications, ...errorResponses(401, 403, 404) },
        detail: {
          operationId: 'listLendingApplications',
          summary: "Lists the caller's lending applications",
          description: 'Returns applications, newest first.',
        },
      },
    )
    .get('/lending-application/:id', ({ params, shop }) => readApplication(deps, shop.merchantId, params.id), {
      access: owner,
      versioned: true,
      params: RecordId,
      response: { 200: LendingApplication, ...errorResponses(401, 403, 404) },
      detail: { operationId: 'getLendingApplication', summary: 'Returns a lending application' },
    })
    .patch(
      '/lending-application/:id',
      ({ params, body, shop, actor, expected, once }) =>
        once(200, (write) => updateApplication(deps, { shop, actor, expected, write }, params.id, body), {
          assertVisible: () => readApplication(deps, shop.merchantId, params.id),
        }),
      {
        access: approvedMerchant,
        versioned: true,
        idempotent: true,
        largeJson: true,
        exactNumbers: true,
        params: RecordId,
        body: UpdateApplication,
        response: { 200: LendingApplication, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'updateLendingApplication',
          summary: 'Updates a draft application',
          description:
            'Fields that you leave out keep their values; null clears. `documentationCompleted` is replaced, but items with an uploaded file stay `UPLOADED`. Another partner may require other documents: see the checklist. The response is 409 once the application is submitted.',
        },
      },
    )
    .post(
      '/lending-application/:id/submit',
      ({ params, shop, actor, expected, once }) =>
        once(200, (write) => submitApplication(deps, { shop, actor, expected, write }, params.id), {
          assertVisible: () => readApplication(deps, shop.merchantId, params.id),
        }),
      {
        access: approvedMerchant,
        versioned: true,
        idempotent: true,
        largeJson: true,
        params: RecordId,
        response: { 200: LendingApplication, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'submitLendingApplication',
          summary: 'Submits a draft application',
          description:
            'Every document that the checklist requires must be `UPLOADED`; otherwise the response is 422 and the message names the missing keys. Nothing else is checked. Any status other than draft is 409.',
        },
      },
    )
    .post(
      '/lending-application/:id/withdraw',
      ({ params, body: { reason }, shop, actor, expected, once }) =>
        once(200, (write) => withdrawApplication(deps, { shop, actor, expected, write }, params.id, reason ?? null), {
          assertVisible: () => readApplication(deps, shop.merchantId, params.id),
        }),
      {
        access: approvedMerchant,
        versioned: true,
        idempotent: true,
        largeJson: true,
        params: RecordId,
        body: WithdrawApplication,
        response: { 200: LendingApplication, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'withdrawLendingApplication',
          summary: 'Withdraws a lending application',
          description:
            'Withdraws an application that is `DRAFT`, `SUBMITTED` or `UNDER_REVIEW`. This cannot be undone. The response is 409 if the application was decided or withdrawn.',
        },
      },
    )
    .get('/lending-application/:id/checklist', ({ params, shop }) => readChecklist(deps, shop.merchantId, params.id), {
      access: owner,
      params: RecordId,
      response: { 200: LendingChecklist, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'getLendingChecklist',
        summary: 'Returns the checklist of documents',
        description:
          'Lists the documents that every application needs, those of the cohort, those of the selected Tier-1 partner, and optional ones. A partner can make an optional document required, but not the reverse.',
      },
    })
}
