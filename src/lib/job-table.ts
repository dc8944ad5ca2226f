import { fieldsForm, isPattern } from './cron-pattern.ts'

export type JobEntry = {
  /** When it runs, unless JOB_SCHEDULES says otherwise: six fields, from seconds to days of the week, UTC. */
  readonly pattern: string
  /** Ends or forgets things by their age: waits while the clock cannot be trusted. */
  readonly byAge?: true
  /** Besides, as soon as the program has started. */
  readonly atStart?: true
  /** Every process runs it, and its runs see to it themselves that they do nothing twice: one that is held up does not hold up the next. */
  readonly overlaps?: true
  /** Every process runs it, since it looks after the process. */
  readonly ofProcess?: true
  /** A run that takes longer counts as stuck. Unless said: three times what lies between two runs, between 5 minutes and 6 hours. */
  readonly stuckAfterMs?: number
}

/** Every job: a line each, as they are told. What each does is in jobs/. */
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
export const isJobName = (text: string): text is JobName => Object.hasOwn(table, text)

/** When jobs run, where that is not as the table has it; `off`: never by themselves. */
export type JobSchedules = Readonly<Partial<Record<JobName, string>>>

/**
 * Reads JOB_SCHEDULES: `NAME=PATTERN` or `NAME=off`, with `;` between them.
 * @throws Error naming every one that is wrong: by its place where it names no job
 */
export function readSchedules(text: string): JobSchedules {
  const found: Partial<Record<JobName, string>> = {}
  const problems: string[] = []
  text
    .split(';')
    .filter((part) => part.trim() !== '')
    .forEach((part, at) => {
      const [name = '', pattern = '', ...more] = part.split('=').map((word) => word.trim())
      if (!isJobName(name) || more.length > 0) problems.push(`number ${at + 1} names no job`)
      else if (found[name] !== undefined) problems.push(`${name} is there twice`)
      else if (pattern !== 'off' && !isPattern(pattern)) problems.push(`the pattern of ${name} is none`)
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

/** Why a job has nothing to do with these settings; undefined where it has. A run of it would be called fine, and be none. */
export function idleBecause(name: JobName, settings: JobSettings): string | undefined {
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

/** When a job runs, by the settings; undefined: never by itself. */
export function patternOf(name: JobName, settings: JobSettings): string | undefined {
  const set = settings.jobSchedules[name] ?? jobTable[name].pattern
  return set === 'off' || idleBecause(name, settings) !== undefined ? undefined : set
}

/** Whether each process runs a job for itself; of others, one process of a database at a time. */
export const isOfEach = ({ overlaps, ofProcess }: JobEntry): boolean => overlaps === true || ofProcess === true
