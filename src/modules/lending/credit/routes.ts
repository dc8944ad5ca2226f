import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, notModified } from '../../../http/schema.ts'
import { type CreditDeps, computeEnvelope, previewUpgrade, upgradeEligibility } from './index.ts'
import { AssessmentBody, EligibilityQuery, EnvelopeRecord, MerchantParam, UpgradeEligibility, UpgradePreview } from './model.ts'

/** Routes of credit rules for operators. They answer 404 while the lending platform is switched off. */
export const creditAdminRoutes = (deps: HttpDeps & CreditDeps) => {
  const access = { by: 'superAdmin', while: () => deps.config.lendingPlatformEnabled } as const
  return routes(deps, 'Credit')
    .post('/admin/lending-application/credit-tier/preview', ({ body }) => computeEnvelope(body), {
      access,
      exactNumbers: true,
      body: AssessmentBody,
      response: { 200: EnvelopeRecord, ...errorResponses(401, 403, 404, 413, 415) },
      detail: {
        operationId: 'previewCreditTier',
        summary: 'Previews a credit tier',
        description:
          "Applies the current rules to the figures; nothing is read or stored. The tier is `T0` with any hard flag, or if both revenue and collateral are below the cohort's minimum. Otherwise it is `T3` from ten times the minimum revenue with twice the minimum collateral, `T2` from four times the revenue, else `T1`. A medium risk allows `T2` at most, a high risk `T1`. The ceiling is the lowest of the cohort's cap, the tier's cap and the formula of revenue and collateral, rounded down to a hundred dollars. `reason` names it, or the first if several are equal.",
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
          operationId: 'getCreditTierUpgradeEligibility',
          summary: "Returns a merchant's eligibility for a higher tier",
          description:
            "Compares the tier earned by repayments with the lender's own. The gaps are counted from the tier that was earned. The response is 404 if there is no such merchant.",
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
        operationId: 'getCreditTierUpgradePreview',
        summary: "Returns a merchant's progress to the next tier",
        description:
          "Evaluates repayments only, and does not consider a lender's own tier. `T2` needs three on-time settlements and no default ever; `T3` needs ten and no default in the last twelve months. `nextTierGap` is always for the next tier, even if it cannot be reached, which `guidance` explains. Both are null at `T3`. The response is 404 if there is no such merchant.",
      },
    },
  )
