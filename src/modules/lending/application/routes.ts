import type { ListRequest } from '../../../core/csv-list.ts'
import { AppError } from '../../../core/errors.ts'
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
          if (merchantId === undefined) throw new AppError('INVALID', 'merchantId (body): an operator says for whom')
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
          summary: 'Draft a lending application',
          description:
            "The cohort is that of the merchant's approved KYB record, and the tier follows from it: `TIER_1_REFERRAL` for cohorts of the Gulf, Mongolia and the US, else `TIER_2_PARTNER`. A super admin drafts for a merchant, `{ merchantId, cohort }`, and may choose another cohort. 403 without an approved KYB record, and for the `merchantId` of someone else; 409 for a merchant who has 50 drafts already.",
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
        detail: { summary: "The merchant's lending applications", description: 'Newest first.' },
      },
    )
    .get('/lending-application/:id', ({ params, shop }) => readApplication(deps, shop.merchantId, params.id), {
      access: owner,
      versioned: true,
      params: RecordId,
      response: { 200: LendingApplication, ...errorResponses(401, 403, 404) },
      detail: { summary: 'A lending application' },
    })
    .patch(
      '/lending-application/:id',
      ({ params, body, shop, actor, expected, once }) =>
        once(200, (write) => updateApplication(deps, { shop, actor, expected, write }, params.id, body), {
          sees: () => readApplication(deps, shop.merchantId, params.id),
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
          summary: 'Change a draft',
          description:
            'Fields that are left out stay as they are; null takes one back. `documentationCompleted` is replaced whole, but items that a file was uploaded for stay `UPLOADED`. Another partner may ask for other documents: see the checklist. 409 once the application is submitted.',
        },
      },
    )
    .post(
      '/lending-application/:id/submit',
      ({ params, shop, actor, expected, once }) =>
        once(200, (write) => submitApplication(deps, { shop, actor, expected, write }, params.id), {
          sees: () => readApplication(deps, shop.merchantId, params.id),
        }),
      {
        access: approvedMerchant,
        versioned: true,
        idempotent: true,
        largeJson: true,
        params: RecordId,
        response: { 200: LendingApplication, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Submit a draft',
          description:
            'Once every document that the checklist requires is `UPLOADED`; else 422, and the message names the keys that are missing. Nothing but documents is asked for. 409 for anything but a draft.',
        },
      },
    )
    .post(
      '/lending-application/:id/withdraw',
      ({ params, body: { reason }, shop, actor, expected, once }) =>
        once(200, (write) => withdrawApplication(deps, { shop, actor, expected, write }, params.id, reason ?? null), {
          sees: () => readApplication(deps, shop.merchantId, params.id),
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
          summary: 'Withdraw an application',
          description: 'For good; from `DRAFT`, `SUBMITTED` or `UNDER_REVIEW`. 409 once it is decided or withdrawn.',
        },
      },
    )
    .get('/lending-application/:id/checklist', ({ params, shop }) => readChecklist(deps, shop.merchantId, params.id), {
      access: owner,
      params: RecordId,
      response: { 200: LendingChecklist, ...errorResponses(401, 403, 404) },
      detail: {
        summary: 'Which documents the application asks for',
        description:
          'Those that everybody needs, those of the cohort, those of the Tier-1 partner that is chosen, and those that anybody may hand in besides. A partner may make a document required that is optional otherwise, and never the reverse.',
      },
    })
}
