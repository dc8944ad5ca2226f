import { join } from 'node:path'
import { modeOfKey } from './lib/processor-keys.ts'
import { agents } from './settings/agents.ts'
import { backups } from './settings/backups.ts'
import { chains } from './settings/chains.ts'
import { documents } from './settings/documents.ts'
import { instance } from './settings/instance.ts'
import type { Setting, SettingReader } from './settings/kinds.ts'
import { mail } from './settings/mail.ts'
import { media } from './settings/media.ts'
import { operations } from './settings/operations.ts'
import { operators } from './settings/operators.ts'
import { processors } from './settings/processors.ts'
import { providers } from './settings/providers.ts'

/** All invalid settings, so that they can be fixed at once. Messages do not contain values. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  constructor(readonly problems: readonly string[]) {
    super(
      `${problems.length === 1 ? 'Invalid setting' : `${problems.length} invalid settings`}:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    )
  }
}

/** All settings. `souk help settings` and docs/settings.md are generated from this. */
export const settings = {
  ...instance,
  ...operators,
  ...processors,
  ...documents,
  ...mail,
  ...media,
  ...chains,
  ...operations,
  ...providers,
  ...agents,
  ...backups,
} as const

type Settings = (typeof settings)[keyof typeof settings]
/** Undefined only for a setting without a default that is not a list. */
type ValueOf<S extends Settings> =
  | ReturnType<S['read']>
  | (S extends { default: string } | { read: { whenUnset: unknown } } ? never : undefined)

/** The settings of an instance, read once at the start and frozen. Nothing else reads the environment. */
export type Config = Readonly<{ [S in Settings as S['field']]: ValueOf<S> } & { databaseUrl: string }>

/**
 * Parses the environment. Ignores unknown variables; empty ones count as unset.
 * @throws ConfigError that names every invalid setting
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = []
  const read = (name: string, { default: byDefault, read: parse }: Setting<string, string | undefined, SettingReader>) => {
    const text = env[name]?.trim() || byDefault
    if (text === undefined) return parse.whenUnset
    try {
      return parse(text)
    } catch (error) {
      problems.push(`${name} must be ${error instanceof Error ? error.message : 'valid'}`)
    }
  }
  const config = Object.fromEntries(Object.entries(settings).map(([name, one]) => [one.field, read(name, one)])) as Config
  if (config.databaseUrl && !config.databaseUrl.startsWith('file:')) problems.push(...missingSecrets(env))
  problems.push(
    ...keyModeProblems(config),
    ...bucketProblems(env, 'DOCUMENTS'),
    ...bucketProblems(env, 'MEDIA'),
    ...sharedPrefixProblems(config),
    ...bucketProblems(env, 'BACKUP', ['BACKUP_PASSPHRASE']),
    ...halfProviders(config, env),
    ...logShippingProblems(config),
    ...mailProblems(config),
  )
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze({ ...config, databaseUrl: config.databaseUrl ?? `file:${join(config.dataDir, 'souk.db')}` })
}

/** With SQLite the first start creates the secrets. Processes that share a PostgreSQL server must get the same ones. */
function missingSecrets(env: Readonly<Record<string, string | undefined>>): string[] {
  return ['JWT_SECRET', 'ENCRYPTION_KEY', 'INTEGRATION_API_KEY']
    .filter((name) => !env[name]?.trim())
    .map((name) => `${name} must be set when DATABASE_URL is a PostgreSQL server`)
}

/** A log on the data disk would be lost with it; PostgreSQL archives its own log. */
function logShippingProblems({ shipLogSeconds, databaseUrl, backupDir, backupS3Bucket }: Config): string[] {
  if (shipLogSeconds === undefined) return []
  if (databaseUrl && !databaseUrl.startsWith('file:'))
    return ['SHIP_LOG_SECONDS must not be set with PostgreSQL, which archives its own write-ahead log (docs/operations.md)']
  if (backupDir === undefined && backupS3Bucket === undefined)
    return ['SHIP_LOG_SECONDS needs BACKUP_DIR or BACKUP_S3_BUCKET, best on another machine']
  return []
}

/** Mails need a sender. */
const mailProblems = ({ smtpUrl, mailFrom }: Config): string[] =>
  smtpUrl !== undefined && mailFrom === undefined ? ['MAIL_FROM must be set with SMTP_URL: the sender of emails'] : []

/** The two keys of an account must have the same mode. */
const keyModeProblems = (config: Config): string[] =>
  Object.keys(processors)
    .filter((name) => name.endsWith('_PUBLISHABLE_KEY'))
    .map((name) => [name, name.replace('PUBLISHABLE', 'SECRET')] as const)
    .filter((names) => {
      const [open, hidden] = names.map((name) => config[processors[name as keyof typeof processors].field])
      return open && hidden && modeOfKey(open) !== modeOfKey(hidden)
    })
    .map(([open, hidden]) => `${hidden} must have the same mode (test or live) as ${open}`)

/**
 * An incomplete bucket configuration would silently use the data directory.
 * @param besides settings that are required with the bucket and optional without
 */
function bucketProblems(
  env: Readonly<Record<string, string | undefined>>,
  what: 'DOCUMENTS' | 'MEDIA' | 'BACKUP',
  besides: readonly string[] = [],
): string[] {
  const names = ['ENDPOINT', 'BUCKET', 'KEY_ID', 'SECRET'].map((name) => `${what}_S3_${name}`)
  const isMissing = (name: string) => !env[name]?.trim()
  if (names.every(isMissing)) return []
  return [...names, ...besides].filter(isMissing).map((name) => `${name} must be set when another of ${names.join(', ')} is`)
}

/** Each sweep deletes unknown files under its prefix. */
function sharedPrefixProblems({
  documentsS3Endpoint,
  documentsS3Bucket,
  documentsS3Prefix,
  mediaS3Endpoint,
  mediaS3Bucket,
  mediaS3Prefix,
}: Config): string[] {
  const isShared = mediaS3Bucket !== undefined && mediaS3Bucket === documentsS3Bucket && mediaS3Endpoint === documentsS3Endpoint
  return isShared && mediaS3Prefix === documentsS3Prefix ? ['MEDIA_S3_PREFIX must differ from DOCUMENTS_S3_PREFIX in the same bucket'] : []
}

/** Settings that each operations provider requires. */
const neededBy: Readonly<Record<string, readonly string[]>> = {
  ecs: ['ECS_REGION', 'ECS_KEY_ID', 'ECS_SECRET'],
  systemd: ['SYSTEMD_UNITS'],
  sentry: ['ERRORS_ORGANIZATION', 'ERRORS_TOKEN'],
  glitchtip: ['GLITCHTIP_API_URL', 'ERRORS_ORGANIZATION', 'ERRORS_TOKEN'],
  github: ['GITHUB_TOKEN', 'GITHUB_REPOSITORIES'],
}

/** A provider without its settings would silently show nothing. */
function halfProviders(config: Config, env: Readonly<Record<string, string | undefined>>): string[] {
  const named = {
    OPERATIONS_SERVICES: config.operationsServices,
    OPERATIONS_ERRORS: config.operationsErrors,
    OPERATIONS_DEPLOYS: config.operationsDeploys,
  }
  return Object.entries(named).flatMap(([by, provider]) =>
    (neededBy[provider] ?? []).filter((name) => !env[name]?.trim()).map((name) => `${name} must be set when ${by} is ${provider}`),
  )
}
