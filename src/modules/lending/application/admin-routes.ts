import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, RecordId } from '../../../http/schema.ts'
import { sliceOf } from '../../../lib/page.ts'
import { queueLimitDefault, queueLimitMax } from './domain.ts'
import { decide, type LendingDeps, listQueue, readAdminApplication } from './index.ts'
import { AdminLendingApplication, DecideApplication, LendingQueue, ListQueue } from './model.ts'

/** Routes for operators. They answer 404 while the lending platform is switched off. */
export const lendingAdminRoutes = (deps: HttpDeps & LendingDeps) => {
  const superAdmin = { by: 'superAdmin', while: () => deps.config.lendingPlatformEnabled } as const
  return routes(deps, 'Lending')
    .get(
      '/admin/lending-application',
      ({ query: { status = 'UNDER_REVIEW', tier, cohort, partner, page, limit = String(queueLimitDefault) } }) =>
        listQueue(deps, { status, tier, cohort, partner }, sliceOf({ page, limit }, queueLimitMax)),
      {
        access: superAdmin,
        query: ListQueue,
        response: { 200: LendingQueue, ...errorResponses(401, 403, 404) },
        detail: {
          summary: 'The review queue',
          description:
            'What was submitted first comes first; applications of one moment go by id, and those that were never submitted come before all others. Rows have no `documentationCompleted`: read the application for it. `total` is exact up to 1,000, and so many can be reached by page; there are more where it says `totalCapped`.',
        },
      },
    )
    .get('/admin/lending-application/:id', ({ params }) => readAdminApplication(deps, params.id), {
      access: superAdmin,
      versioned: true,
      params: RecordId,
      response: { 200: AdminLendingApplication, ...errorResponses(401, 403, 404) },
      detail: { summary: 'A lending application', description: 'With its documents, its decisions, and who did what, when and why.' },
    })
    .post(
      '/admin/lending-application/:id/decision',
      ({ params, body: { decision, reason, partnerExternalRef, assessment }, actor, expected, once }) =>
        once(
          200,
          (write) =>
            decide(deps, { actor, expected, write }, params.id, {
              decision,
              reason: reason ?? null,
              partnerExternalRef: partnerExternalRef ?? null,
              assessment: assessment ?? null,
            }),
          { sees: () => readAdminApplication(deps, params.id) },
        ),
      {
        access: superAdmin,
        versioned: true,
        idempotent: true,
        largeJson: true,
        exactNumbers: true,
        params: RecordId,
        body: DecideApplication,
        response: { 200: AdminLendingApplication, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Decide about an application',
          description:
            'From `SUBMITTED` to any of them, from `UNDER_REVIEW` to `APPROVED` or `REJECTED`; `UNDER_REVIEW` once more leaves the state as it is and records a new reason or reference. Anything else is 409: of two decisions at once, one wins. An `assessment`, the body of the preview, is judged by the rules as they are, and kept with the envelope and their version beside the decision; its cohort must be that of the application (400).',
        },
      },
    )
}
