import { t } from 'elysia'
import { AppError } from '../../../core/errors.ts'
import { isForwarded, isLoopback, isLoopbackHost } from '../../../http/client-ip.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { sameSecret } from '../../../lib/seal.ts'
import type { LendingDocumentDeps } from '../../lending/lending-document/index.ts'
import type { LiveDeps } from '../../messaging/live-events/index.ts'
import type { MailDeps } from '../../messaging/mail/index.ts'
import type { WebhookDeps } from '../../messaging/webhook/index.ts'
import type { OrderDeps } from '../../selling/order/index.ts'
import type { AttestationDeps } from '../../trust/attestation/index.ts'
import type { BackupDeps } from '../backup/index.ts'
import type { JobDeps } from '../job/index.ts'
import type { LogShippingDeps } from '../log-shipping/index.ts'
import { type Check, metrics, type OperationsDeps, readiness } from './index.ts'
import { Live, Ready } from './model.ts'

const retrySeconds = 5
/** Limits the checks, since each writes to the database. */
const readinessCacheMs = 1_000

/** Checks that do not make the instance unready. */
const informationalChecks: ReadonlySet<string> = new Set(['clockSteady', 'redisReachable', 'backupRecent', 'mailServerAnswers'])

type HealthDeps = HttpDeps &
  LogShippingDeps &
  MailDeps &
  Pick<LendingDocumentDeps, 'storeVerdicts'> &
  Pick<BackupDeps, 'backupState' | 'backupPlaces'>

/** The last checks of each instance. */
const readinessCache = new WeakMap<HealthDeps['life'], { readonly checks: Promise<Check[]>; readonly madeAt: number }>()

/** Returns the last checks while they are fresh. Concurrent requests share one run. */
function cachedReadiness(deps: HealthDeps): Promise<Check[]> {
  const now = deps.clock.monotonic()
  const last = readinessCache.get(deps.life)
  if (last && now - last.madeAt < readinessCacheMs) return last.checks
  const checks = readiness(deps)
  readinessCache.set(deps.life, { checks, madeAt: now })
  return checks
}

export const healthRoutes = (deps: HealthDeps & OrderDeps & WebhookDeps & OperationsDeps & AttestationDeps & JobDeps & LiveDeps) =>
  routes(deps, 'Service')
    .get('/health/live', () => ({ status: 'ok' as const, version: deps.build.version }), {
      access: 'public',
      anyQuery: true,
      takesNoTurn: true,
      response: { 200: Live, ...errorResponses() },
      detail: { operationId: 'checkLiveness', summary: 'Checks that the process responds' },
    })
    .get(
      '/health/ready',
      async () => {
        if (deps.life.stopping) throw new AppError('UNAVAILABLE', 'Not ready: stopping', { retryAfterSeconds: retrySeconds })
        const checks = await cachedReadiness(deps)
        const failed = checks.filter(({ name, ok }) => !ok && !informationalChecks.has(name)).map(({ name }) => name)
        if (failed.length > 0) throw new AppError('UNAVAILABLE', `Not ready: ${failed.join(', ')}`, { retryAfterSeconds: retrySeconds })
        return { status: 'ok' as const, version: deps.build.version, checks }
      },
      {
        access: 'public',
        anyQuery: true,
        takesNoTurn: true,
        response: { 200: Ready, ...errorResponses() },
        detail: {
          operationId: 'checkReadiness',
          summary: 'Checks that the instance can serve requests',
          description:
            'Checks that the database can be read and written, that migrations are complete, that there is enough disk space, and that the files of the database, the keys and (with lending) the documents are in place. 503 names what failed. While the server stops, the response is 503 (`stopping`). `clockSteady` and `backupRecent` are informative: scheduled deletions wait while the clock is unsteady, and `backupRecent` is false while a backup is late.',
        },
      },
    )
    .get(
      '/metrics',
      async ({ request }) => {
        const token = /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
        const hasToken = deps.config.metricsToken !== undefined && token !== undefined && sameSecret(token, deps.config.metricsToken)
        if (!hasToken && !isLocalRequest(request, deps)) {
          throw token === undefined
            ? new AppError('FORBIDDEN', 'Metrics can be read from this machine, or with a metrics token')
            : new AppError('UNAUTHENTICATED', 'The metrics token is not valid')
        }
        return new Response(await metrics(deps, deps.requestCounts, deps.loopLag), {
          headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' },
        }) as never
      },
      {
        access: 'internal',
        anyQuery: true,
        response: {
          200: t.String({ contentMediaType: 'text/plain', description: 'Prometheus text format' }),
          ...errorResponses(401, 403),
        },
        detail: {
          operationId: 'getMetrics',
          summary: 'Returns metrics for Prometheus',
          description:
            'For clients on the loopback interface that use a loopback host name and send no forwarding header, and for clients that send METRICS_TOKEN as a bearer token.',
        },
      },
    )

/** Requires a loopback host name as well, since a page of another origin may resolve its name to this machine. */
function isLocalRequest(request: Request, { guardedAddress }: Pick<HttpDeps, 'guardedAddress'>): boolean {
  const host = request.headers.get('host') ?? URL.parse(request.url)?.host ?? ''
  return !isForwarded(request) && isLoopbackHost(host) && isLoopback(guardedAddress(request) ?? '')
}
