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
          operationId: 'listJobs',
          summary: 'Lists background jobs',
          description:
            'Returns the state, last run and next run of every job. If several processes use the database, one runs a job; the state reported by another is at most a minute old.',
        },
      },
    )
    .post(
      '/admin/operations/jobs/:job/run',
      ({ params, actor, once }) =>
        once(202, (write) => requestRun(deps, { actor, write }, params.job), { assertVisible: async () => assertJob(params.job) }),
      {
        access: 'operator',
        idempotent: true,
        params: JobParam,
        response: { 202: JobRequested, ...errorResponses(401, 403, 404, 409) },
        detail: {
          operationId: 'runJob',
          summary: 'Runs a job',
          description:
            'Also runs a job without a schedule. The run starts at once if the process that responds runs the job, within 10 seconds if another does, and after a restart at the latest. `lastRun` in the list of jobs has the result. Several requests before the start result in one run. The response is 409 while the job runs, and if it has nothing to do (`idleBecause`).',
        },
      },
    )
