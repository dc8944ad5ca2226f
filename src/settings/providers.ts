/** External providers of the operations pages: services, errors and deploys. */
import { apiUrl, integer, listOf, secret, setting, token } from './kinds.ts'

const oneOf =
  <const Words extends readonly string[]>(...words: Words) =>
  (text: string): Words[number] => {
    const word = words.find((one) => one === text)
    if (word === undefined) throw new Error(`one of ${words.join(', ')}`)
    return word
  }
const matching = (pattern: RegExp, what: string) => (text: string) => {
  if (!pattern.test(text)) throw new Error(what)
  return text
}
const slug = /^[A-Za-z0-9][\w.-]{0,99}$/

export const providers = {
  OPERATIONS_SERVICES: setting(
    'operationsServices',
    'word',
    'self',
    'Who tells of the services that run: self, ecs (AWS), swarm (Docker) or systemd',
    oneOf('self', 'ecs', 'swarm', 'systemd'),
  ),
  OPERATIONS_ERRORS: setting(
    'operationsErrors',
    'word',
    'self',
    'Who tells of the errors of the last 24 hours: self, sentry or glitchtip',
    oneOf('self', 'sentry', 'glitchtip'),
  ),
  OPERATIONS_DEPLOYS: setting(
    'operationsDeploys',
    'word',
    'self',
    'Who tells of the latest deploys: self or github',
    oneOf('self', 'github'),
  ),
  OPERATIONS_DEADLINE_MS: setting(
    'operationsDeadlineMs',
    'integer',
    '5000',
    'How long an operations page waits for a provider before it shows its last good answer as stale; 100 to 20000',
    integer(100, 20_000),
  ),
  OPERATIONS_ENVIRONMENT: setting(
    'operationsEnvironment',
    'text',
    'production',
    'The environment whose deploys are shown',
    matching(/^[^\p{C}]{1,100}$/u, 'at most 100 characters'),
  ),
  BUILD_REVISION: setting(
    'buildRevision',
    'text',
    undefined,
    'The commit that runs, as whoever deploys it knows it; shown beside the version',
    matching(/^[\w.+-]{1,64}$/, 'at most 64 letters, digits, dots, hyphens and plus signs'),
  ),
  ECS_REGION: setting(
    'ecsRegion',
    'text',
    undefined,
    'Region of the ECS clusters, as eu-central-1',
    matching(/^[a-z]{2}(-[a-z]+)+-\d{1,2}$/, 'a region, as eu-central-1'),
  ),
  ECS_CLUSTERS: setting(
    'ecsClusters',
    'list',
    'default',
    'ECS clusters whose services are shown',
    listOf('names of clusters', (item) => /^[\w-]{1,255}$/.test(item)),
  ),
  ECS_KEY_ID: setting('ecsKeyId', 'text', undefined, 'AWS access key that may ecs:ListServices and ecs:DescribeServices', token),
  ECS_SECRET: secret('ecsSecret', 'text', 'Secret of that key', token),
  ECS_SESSION_TOKEN: secret(
    'ecsSessionToken',
    'text',
    'With a key that is for a time only',
    matching(/^[\x21-\x7e]{1,4000}$/, 'at most 4000 characters of ASCII without spaces'),
  ),
  ECS_API_URL: setting('ecsApiUrl', 'URL', undefined, 'Where the API of ECS is; unset: at AWS, in the region', apiUrl),
  SWARM_SOCKET: setting(
    'swarmSocket',
    'path',
    '/var/run/docker.sock',
    'Socket of the daemon of a Docker Swarm manager; whoever may use it rules the machine',
    matching(/^\/[^\0]{1,100}$/, 'an absolute path of at most 100 characters'),
  ),
  SYSTEMD_UNITS: setting(
    'systemdUnits',
    'list',
    undefined,
    'systemd units that are shown, as souk.service',
    listOf('names of units', (item) => /^[A-Za-z0-9][\w:.@\\-]{0,200}$/.test(item)),
  ),
  SENTRY_API_URL: setting('sentryApiUrl', 'URL', 'https://sentry.io', 'Where Sentry is, without /api', apiUrl),
  GLITCHTIP_API_URL: setting('glitchtipApiUrl', 'URL', undefined, 'Where GlitchTip is, without /api', apiUrl),
  ERRORS_ORGANIZATION: setting(
    'errorsOrganization',
    'text',
    undefined,
    'Organisation at Sentry or GlitchTip (its slug)',
    matching(slug, 'a slug: letters, digits, dots, hyphens and underscores'),
  ),
  ERRORS_TOKEN: secret('errorsToken', 'text', 'Token to it, which may read projects and events', token),
  ERRORS_PROJECTS: setting(
    'errorsProjects',
    'list',
    undefined,
    'Its projects that are shown (slugs); unset: all, 50 at most',
    listOf('slugs of projects', (item) => slug.test(item)),
  ),
  GITHUB_API_URL: setting('githubApiUrl', 'URL', 'https://api.github.com', "Where GitHub's API is", apiUrl),
  GITHUB_TOKEN: secret('githubToken', 'text', 'Token that may read deployments, contents and pull requests', token),
  GITHUB_REPOSITORIES: setting(
    'githubRepositories',
    'list',
    undefined,
    'Repositories whose deploys are shown, as owner/name',
    listOf('repositories, as owner/name', (item) => /^[A-Za-z0-9][\w.-]{0,99}\/(?!\.{1,2}$)[\w.-]{1,100}$/.test(item)),
  ),
} as const
