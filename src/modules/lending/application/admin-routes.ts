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
          operationId: 'listLendingQueue',
          summary: 'Lists the review queue',
          description:
            'Returns applications in the order of submission, those of the same time by id, after those that were never submitted. Rows have no `documentationCompleted`: read the application for it. `total` is exact up to 1,000, which is also the last row that can be reached by page; `totalCapped` says if there are more.',
        },
      },
    )
    .get('/admin/lending-application/:id', ({ params }) => readAdminApplication(deps, params.id), {
      access: superAdmin,
      versioned: true,
      params: RecordId,
      response: { 200: AdminLendingApplication, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'reviewLendingApplication',
        summary: 'Returns a lending application for review',
        description: 'Includes the documents, the decisions and the history.',
      },
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
          { assertVisible: () => readAdminApplication(deps, params.id) },
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
          operationId: 'decideLendingApplication',
          summary: 'Decides on a lending application',
          description:
            "`SUBMITTED` can change to any of the decisions, and `UNDER_REVIEW` to `APPROVED` or `REJECTED`. `UNDER_REVIEW` again records a new reason or reference. Any other change is 409, including the second of two simultaneous decisions. An `assessment` (the body of the preview) is evaluated by the current rules and stored with the decision, the envelope and the version of the rules. Its cohort must be the application's (400).",
        },
      },
    )
}
