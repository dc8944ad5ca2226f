import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import type { BackupDeps } from '../backup/index.ts'
import { type JobDeps, listJobs } from '../job/index.ts'
import { backupsView, type LogShippingDeps } from './index.ts'
import { BackupsRecord } from './model.ts'

export const backupRoutes = (deps: HttpDeps & BackupDeps & JobDeps & LogShippingDeps) =>
  routes(deps, 'Operations').get(
    '/admin/operations/backups',
    async () => {
      const job = (await listJobs(deps)).find(({ name }) => name === 'back-up')
      return backupsView(deps, job?.nextRun ?? null)
    },
    {
      access: 'operator',
      response: { 200: BackupsRecord, ...errorResponses(401, 403) },
      detail: {
        summary: 'Backups',
        description:
          'What the process that answers knows of them, as its metrics have it: it looks into each place once an hour. `POST /admin/operations/jobs/back-up/run` makes one now.',
      },
    },
  )
