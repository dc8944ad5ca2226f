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
        operationId: 'listBackups',
        summary: 'Lists backups',
        description:
          'Returns what the responding process knows; like the metrics, it is refreshed once an hour. To make a backup now, call `POST /admin/operations/jobs/back-up/run`.',
      },
    },
  )
