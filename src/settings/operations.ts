/** Monitoring, jobs and shutdown. */
import { type JobSchedules, readSchedules } from '../lib/job-table.ts'
import { logLevels } from '../lib/log.ts'
import { integer, secret, setting } from './kinds.ts'

export const operations = {
  METRICS_TOKEN: secret('metricsToken', 'text', 'Bearer token for /metrics from other machines; at least 16 characters', (text) => {
    if (text.length < 16) throw new Error('at least 16 characters')
    return text
  }),
  DRAIN_SECONDS: setting(
    'drainSeconds',
    'integer',
    '0',
    'Seconds to keep serving requests after a stop signal while /health/ready returns 503; 0 to 60',
    integer(0, 60),
  ),
  JOB_SCHEDULES: setting(
    'jobSchedules',
    'schedules',
    undefined,
    'Changed job schedules: `forget=0 0 3 * * *; recheck-hosts=off`. Six fields from second to weekday, UTC. `GET /admin/operations/jobs` lists the jobs',
    Object.assign(readSchedules, { whenUnset: {} as JobSchedules }),
  ),
  SHIP_LOG_SECONDS: setting(
    'shipLogSeconds',
    'integer',
    undefined,
    'Seconds between shipments of the log of the embedded database to the backup targets, for `souk restore --to`; 1 to 3600. Default: off',
    integer(1, 3_600),
  ),
  SHIP_LOG_DAYS: setting('shipLogDays', 'integer', '7', 'Days that `souk restore --to` can go back; 1 to 3650', integer(1, 3_650)),
  DISK_FREE_MIN_MB: setting(
    'diskFreeMinBytes',
    'integer',
    '100',
    'Minimum free disk space in megabytes; below, /health/ready returns 503',
    (text) => integer(0, 1_000_000)(text) * 1024 * 1024,
  ),
  LOG_LEVEL: setting('logLevel', 'word', 'info', `Log level: ${logLevels.join(', ')}`, (text) => {
    const level = logLevels.find((one) => one === text)
    if (!level) throw new Error(`one of ${logLevels.join(', ')}`)
    return level
  }),
} as const
