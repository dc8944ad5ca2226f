import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, notModified } from '../../../http/schema.ts'
import { type CreditDeps, computeEnvelope, previewUpgrade, upgradeEligibility } from './index.ts'
import { AssessmentBody, EligibilityQuery, EnvelopeRecord, MerchantParam, UpgradeEligibility, UpgradePreview } from './model.ts'

/** Answer 404 while the lending platform is switched off. */
export const creditAdminRoutes = (deps: HttpDeps & CreditDeps) => {
  const access = { by: 'superAdmin', while: () => deps.config.lendingPlatformEnabled } as const
  return routes(deps, 'Credit')
    .post('/admin/lending-application/credit-tier/preview', ({ body }) => computeEnvelope(body), {
      access,
      exactNumbers: true,
      body: AssessmentBody,
      response: { 200: EnvelopeRecord, ...errorResponses(401, 403, 404, 413, 415) },
      detail: {
        summary: 'What a merchant with these figures could be lent',
        description:
          'By the rules as they are; no application is looked at and nothing is stored. `T0` by any hard flag, or with revenue and collateral both under the minimum of the cohort. Else `T3` from ten times the revenue with twice the collateral, `T2` from four times the revenue, `T1`; a medium risk allows `T2` at most, a high one `T1`. The ceiling is the least of the cap of the cohort, the cap of the tier, and what the formula gives of revenue and collateral, down to a hundred dollars; `reason` says which, the first of them where they are the same.',
      },
    })
    .get(
      '/admin/lending-application/credit-tier/upgrade-eligibility/:merchantId',
      ({ params, query }) => upgradeEligibility(deps, params.merchantId, query.baseTier ?? 'T1'),
      {
        access,
        params: MerchantParam,
        query: EligibilityQuery,
        response: { 200: UpgradeEligibility, ...errorResponses(401, 403, 404) },
        detail: {
          summary: 'What a merchant earned by repayment, beside the tier that a lender gives them',
          description: 'The gaps are those of the ladder, from what was earned. 404 for whoever is no merchant.',
        },
      },
    )
}

export const upgradePreviewRoutes = (deps: HttpDeps & CreditDeps) =>
  routes(deps, 'Credit').get(
    '/v2/merchant/credit-tier/upgrade-preview/:merchantId',
    ({ params, request }) =>
      deps.answers.respond(request, async () => JSON.stringify(await previewUpgrade(deps, params.merchantId))) as never,
    {
      access: 'public',
      params: MerchantParam,
      response: { 200: UpgradePreview, 304: notModified, ...errorResponses(404) },
      detail: {
        summary: 'Where a merchant stands by repayment, and what is missing for the next rung',
        description:
          'Read-only: it mints nothing, and does not look at what tier a lender gives. `T2` is for three on-time settlements without any default ever, `T3` for ten without one in the last twelve months; each by its own row. `nextTierGap` is always the rung above, also where it is closed for good, which `guidance` says. Both are null at `T3`. 404 for whoever is no merchant.',
      },
    },
  )
