import type { Deploy, ErrorProject, ServiceStatus } from '../../../core/operations.ts'
import { errorWindowHours } from '../../../core/operations.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import type { PlatformDeps } from './index.ts'
import { Deploys, ErrorSummary, Services } from './model.ts'

const refusals = errorResponses(401, 403)
const caching =
  'Responses are cached for a minute. A later request waits at most five seconds (OPERATIONS_DEADLINE_MS) for the provider. If it fails or takes longer, the last response is returned with `stale: true`, or 503 if there is none.'

/** Elysia's response types require mutable arrays. */
const listOf = <Item>(items: readonly Item[]) => items as Item[]

export const platformRoutes = (deps: HttpDeps & PlatformDeps) =>
  routes(deps, 'Operations')
    .get(
      '/admin/operations/services',
      async () => {
        const { asOf, stale, items } = await deps.statusCaches.services.show()
        return { asOf, stale, services: listOf<ServiceStatus>(items) }
      },
      {
        access: 'operator',
        response: { 200: Services, ...refusals },
        detail: {
          operationId: 'listServices',
          summary: 'Lists running services',
          description: `Reported by the provider in OPERATIONS_SERVICES: souk itself (its serving and job processes), AWS ECS, Docker Swarm or systemd. ${caching}`,
        },
      },
    )
    .get(
      '/admin/operations/sentry-summary',
      async () => {
        const { asOf, stale, items } = await deps.statusCaches.errors.show()
        return {
          asOf,
          stale,
          windowHours: errorWindowHours,
          projects: items.map((project: ErrorProject) => ({ ...project, top: listOf(project.top) })),
        }
      },
      {
        access: 'operator',
        response: { 200: ErrorSummary, ...refusals },
        detail: {
          operationId: 'getErrorSummary',
          summary: 'Returns a summary of errors',
          description: `Errors of the last 24 hours, reported by the provider in OPERATIONS_ERRORS: souk's own log (by whole hours, without messages), Sentry or GlitchTip. ${caching}`,
        },
      },
    )
    .get(
      '/admin/operations/deploys/latest',
      async () => {
        const { asOf, stale, items } = await deps.statusCaches.deploys.show()
        return { asOf, stale, deploys: listOf<Deploy>(items) }
      },
      {
        access: 'operator',
        response: { 200: Deploys, ...refusals },
        detail: {
          operationId: 'listLatestDeploys',
          summary: 'Lists the latest deployments',
          description: `The latest deployment of each service, reported by the provider in OPERATIONS_DEPLOYS: souk's own starts (the first start of the running version; \`change\` is null), or GitHub's successful deployments to OPERATIONS_ENVIRONMENT with their pull request or commit. ${caching}`,
        },
      },
    )
