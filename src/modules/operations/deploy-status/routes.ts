import type { Deploy, ErrorProject, ServiceStatus } from '../../../core/operations.ts'
import { errorWindowHours } from '../../../core/operations.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import type { PlatformDeps } from './index.ts'
import { Deploys, ErrorSummary, Services } from './model.ts'

const refusals = errorResponses(401, 403)
const caching =
  'An answer is shown for a minute. Whoever comes then waits five seconds at most (OPERATIONS_DEADLINE_MS): after that, or when the provider fails, the last good answer is shown with `stale: true`; 503 when there has never been one.'

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
          summary: 'Services that run',
          description: `By the provider of OPERATIONS_SERVICES: souk itself (its processes that serve, and those whose jobs run), AWS ECS, Docker Swarm or systemd. ${caching}`,
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
          summary: 'Errors of the last 24 hours',
          description: `By the provider of OPERATIONS_ERRORS: souk's own log (by whole hours, without messages), Sentry or GlitchTip. ${caching}`,
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
          summary: 'The latest deploy of each service',
          description: `By the provider of OPERATIONS_DEPLOYS: souk's own starts (when what runs was started first; \`change\` is null), or GitHub's deployments to OPERATIONS_ENVIRONMENT that succeeded, with the pull request or the commit of each. ${caching}`,
        },
      },
    )
