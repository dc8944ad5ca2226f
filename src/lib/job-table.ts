import { fieldsForm, isPattern } from './cron-pattern.ts'

/** How a job is scheduled and run. */
export type JobEntry = {
  /** Default schedule in UTC: six cron fields from seconds to days of the week. JOB_SCHEDULES overrides it. */
  readonly pattern: string
  /** The job expires or deletes records by age: it waits while the clock is not trusted. */
  readonly byAge?: true
  /** The job also runs once at the start. */
  readonly atStart?: true
  /** Every process runs the job, and concurrent runs are safe. */
  readonly overlaps?: true
  /** Every process runs the job, because it maintains that process. */
  readonly ofProcess?: true
  /** Duration after which a run counts as stuck. Default: three intervals, between 5 minutes and 6 hours. */
  readonly stuckAfterMs?: number
}

/** All jobs, in the order in which they are shown. `jobs/` implements them. */
const table = {
  'resume-orders': { pattern: '*/5 * * * * *', overlaps: true },
  'work-payment-messages': { pattern: '*/5 * * * * *', overlaps: true },
  'deliver-webhooks': { pattern: '* * * * * *' },
  'send-mails': { pattern: '* * * * * *', overlaps: true },
  'probe-processors': { pattern: '* * * * * *', overlaps: true },
  'close-orders': { pattern: '45 * * * * *', byAge: true, overlaps: true },
  'sweep-payments': { pattern: '50 * * * * *', overlaps: true },
  forget: { pattern: '0 */10 * * * *', byAge: true },
  'finish-erasures': { pattern: '5,15,25,35,45,55 * * * * *', ofProcess: true },
  'mail-abandoned-carts': { pattern: '40 */5 * * * *', byAge: true },
  'expire-carts': { pattern: '20 */10 * * * *', byAge: true },
  'fold-listings': { pattern: '15 * * * * *' },
  'fill-search': { pattern: '*/5 * * * * *', atStart: true },
  'fold-kpis': { pattern: '*/10 * * * * *' },
  'rebuild-kpis': { pattern: '0 40 3 * * *' },
  'approve-commissions': { pattern: '0 5 * * * *', byAge: true },
  'fetch-rates': { pattern: '0 1 * * * *', atStart: true },
  'price-unpriced': { pattern: '0 3 * * * *' },
  'recheck-hosts': { pattern: '10 40 * * * *', byAge: true },
  'sweep-documents': { pattern: '25 20 * * * *', byAge: true },
  'sync-attestations': { pattern: '*/5 * * * * *' },
  'record-attested-repayments': { pattern: '40 * * * * *' },
  'rescan-chains': { pattern: '30 50 * * * *' },
  'back-up': { pattern: '20 15 3 * * *', byAge: true },
  'watch-backups': { pattern: '30 35 * * * *', byAge: true },
  'quick-check': { pattern: '20 15 4 * * 0' },
  'refresh-operations': { pattern: '5,35 * * * * *' },
  'tend-process': { pattern: '*/10 * * * * *', ofProcess: true },
  'look-around': { pattern: '*/10 * * * * *', ofProcess: true },
  checkpoint: { pattern: '30 * * * * *', ofProcess: true },
} as const satisfies Record<string, JobEntry>

export type JobName = keyof typeof table
export const jobTable: Readonly<Record<JobName, JobEntry>> = table
export const jobNames = Object.keys(table) as JobName[]
/** Returns whether a text names a job of this version. */
export const isJobName = (text: string): text is JobName => Object.hasOwn(table, text)

/** Overridden schedules; `off` disables the schedule. */
export type JobSchedules = Readonly<Partial<Record<JobName, string>>>

/**
 * Parses JOB_SCHEDULES: `NAME=PATTERN` or `NAME=off`, separated by `;`.
 * @throws Error that names every invalid entry
 */
export function readSchedules(text: string): JobSchedules {
  const found: Partial<Record<JobName, string>> = {}
  const problems: string[] = []
  text
    .split(';')
    .filter((part) => part.trim() !== '')
    .forEach((part, at) => {
      const [name = '', pattern = '', ...more] = part.split('=').map((word) => word.trim())
      if (!isJobName(name) || more.length > 0) problems.push(`entry ${at + 1} names no job`)
      else if (found[name] !== undefined) problems.push(`${name} is given twice`)
      else if (pattern !== 'off' && !isPattern(pattern)) problems.push(`the pattern of ${name} is not valid`)
      else found[name] = pattern
    })
  if (problems.length > 0)
    throw new Error(
      `NAME=PATTERN or NAME=off with ; between, ${fieldsForm}; but ${problems.join(', ')}. The jobs are ${jobNames.join(', ')}`,
    )
  return found
}

type JobSettings = {
  readonly jobSchedules: JobSchedules
  readonly databaseUrl: string
  readonly backupEnabled: boolean
  readonly fxRatesUrl: string | undefined
  readonly smtpUrl: string | undefined
  readonly chains: readonly unknown[]
  readonly lendingRepaymentsFromAttestations: boolean
}

/** Returns why a job has nothing to do with these settings; undefined if it has. */
export function idleReason(name: JobName, settings: JobSettings): string | undefined {
  const isFile = settings.databaseUrl.startsWith('file:')
  const noChains = settings.chains.length === 0 ? 'CHAINS is not set' : undefined
  switch (name) {
    case 'back-up':
    case 'watch-backups':
      if (!isFile) return "PostgreSQL is backed up by PostgreSQL's own tools"
      return settings.backupEnabled ? undefined : 'BACKUP_ENABLED is false'
    case 'quick-check':
      return isFile ? undefined : 'PostgreSQL looks after its pages itself'
    case 'send-mails':
    case 'mail-abandoned-carts':
      return settings.smtpUrl === undefined ? 'SMTP_URL is not set' : undefined
    case 'fetch-rates':
      return settings.fxRatesUrl === undefined ? 'FX_RATES_URL is not set' : undefined
    case 'sync-attestations':
    case 'rescan-chains':
      return noChains
    case 'record-attested-repayments':
      return settings.lendingRepaymentsFromAttestations ? noChains : 'LENDING_REPAYMENTS_FROM_ATTESTATIONS is not set'
    default:
      return undefined
  }
}

/** Returns the cron pattern of a job; undefined if it is not scheduled. */
export function patternOf(name: JobName, settings: JobSettings): string | undefined {
  const set = settings.jobSchedules[name] ?? jobTable[name].pattern
  return set === 'off' || idleReason(name, settings) !== undefined ? undefined : set
}

/** Returns whether every process runs the job. Other jobs run in one process per database. */
export const runsInEachProcess = ({ overlaps, ofProcess }: JobEntry): boolean => overlaps === true || ofProcess === true
