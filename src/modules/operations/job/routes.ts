import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { type AttestationDeps, chainStatuses, chainView } from '../../trust/attestation/index.ts'
import { assertJob, type JobDeps, listJobs, requestRun } from './index.ts'
import { JobParam, JobRecords, JobRequested } from './model.ts'

export const jobRoutes = (deps: HttpDeps & JobDeps & AttestationDeps) =>
  routes(deps, 'Operations')
    .get(
      '/admin/operations/jobs',
      async () => {
        const [data, chains] = await Promise.all([listJobs(deps), chainStatuses(deps)])
        return { data, chains: chains.map(chainView) }
      },
      {
        access: 'operator',
        response: { 200: JobRecords, ...errorResponses(401, 403) },
        detail: {
          summary: 'Background jobs',
          description:
            'All of them: how each stands, its last run and its next. Of several processes on one database one runs a job; what another one knows of it is at most a minute old.',
        },
      },
    )
    .post(
      '/admin/operations/jobs/:job/run',
      ({ params, actor, once }) =>
        once(202, (write) => requestRun(deps, { actor, write }, params.job), { sees: async () => assertJob(params.job) }),
      {
        access: 'operator',
        idempotent: true,
        params: JobParam,
        response: { 202: JobRequested, ...errorResponses(401, 403, 404, 409) },
        detail: {
          summary: 'Run a job now',
          description:
            'Also one that is switched off. It is kept that the run was asked for: it begins at once where the process that answers runs the job, within 10 seconds where another does, and at the next start if the process ends before; `lastRun` of the list tells what came of it. Asked for again before it has begun, it runs once. 409 while it runs, and where the settings leave it nothing to do (`idleBecause`).',
        },
      },
    )
