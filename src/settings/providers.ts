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
    'Source of running services: self, ecs (AWS), swarm (Docker) or systemd',
    oneOf('self', 'ecs', 'swarm', 'systemd'),
  ),
  OPERATIONS_ERRORS: setting(
    'operationsErrors',
    'word',
    'self',
    'Source of errors of the last 24 hours: self, sentry or glitchtip',
    oneOf('self', 'sentry', 'glitchtip'),
  ),
  OPERATIONS_DEPLOYS: setting('operationsDeploys', 'word', 'self', 'Source of deploys: self or github', oneOf('self', 'github')),
  OPERATIONS_DEADLINE_MS: setting(
    'operationsDeadlineMs',
    'integer',
    '5000',
    'Milliseconds to wait for a source before the last good answer is shown as outdated; 100 to 20000',
    integer(100, 20_000),
  ),
  OPERATIONS_ENVIRONMENT: setting(
    'operationsEnvironment',
    'text',
    'production',
    'Environment whose deploys are shown',
    matching(/^[^\p{C}]{1,100}$/u, 'at most 100 characters'),
  ),
  BUILD_REVISION: setting(
    'buildRevision',
    'text',
    undefined,
    'Deployed commit, shown next to the version',
    matching(/^[\w.+-]{1,64}$/, 'at most 64 letters, digits, dots, hyphens and plus signs'),
  ),
  ECS_REGION: setting(
    'ecsRegion',
    'text',
    undefined,
    'Region of the ECS clusters, such as eu-central-1',
    matching(/^[a-z]{2}(-[a-z]+)+-\d{1,2}$/, 'a region such as eu-central-1'),
  ),
  ECS_CLUSTERS: setting(
    'ecsClusters',
    'list',
    'default',
    'ECS clusters whose services are shown',
    listOf('names of clusters', (item) => /^[\w-]{1,255}$/.test(item)),
  ),
  ECS_KEY_ID: setting('ecsKeyId', 'text', undefined, 'AWS access key id with ecs:ListServices and ecs:DescribeServices', token),
  ECS_SECRET: secret('ecsSecret', 'text', 'Secret of the AWS access key', token),
  ECS_SESSION_TOKEN: secret(
    'ecsSessionToken',
    'text',
    'Session token of a temporary AWS key',
    matching(/^[\x21-\x7e]{1,4000}$/, 'at most 4000 characters of ASCII without spaces'),
  ),
  ECS_API_URL: setting('ecsApiUrl', 'URL', undefined, 'URL of the ECS API. Default: AWS in the region', apiUrl),
  SWARM_SOCKET: setting(
    'swarmSocket',
    'path',
    '/var/run/docker.sock',
    'Socket of a Docker Swarm manager. Access to it means full control of the machine',
    matching(/^\/[^\0]{1,100}$/, 'an absolute path of at most 100 characters'),
  ),
  SYSTEMD_UNITS: setting(
    'systemdUnits',
    'list',
    undefined,
    'systemd units to show, such as souk.service',
    listOf('names of units', (item) => /^[A-Za-z0-9][\w:.@\\-]{0,200}$/.test(item)),
  ),
  SENTRY_API_URL: setting('sentryApiUrl', 'URL', 'https://sentry.io', 'URL of Sentry without /api', apiUrl),
  GLITCHTIP_API_URL: setting('glitchtipApiUrl', 'URL', undefined, 'URL of GlitchTip without /api', apiUrl),
  ERRORS_ORGANIZATION: setting(
    'errorsOrganization',
    'text',
    undefined,
    'Slug of the organization at Sentry or GlitchTip',
    matching(slug, 'a slug: letters, digits, dots, hyphens and underscores'),
  ),
  ERRORS_TOKEN: secret('errorsToken', 'text', 'Token for Sentry or GlitchTip that can read projects and events', token),
  ERRORS_PROJECTS: setting(
    'errorsProjects',
    'list',
    undefined,
    'Slugs of the projects to show. Default: all, up to 50',
    listOf('slugs of projects', (item) => slug.test(item)),
  ),
  GITHUB_API_URL: setting('githubApiUrl', 'URL', 'https://api.github.com', 'URL of the GitHub API', apiUrl),
  GITHUB_TOKEN: secret('githubToken', 'text', 'GitHub token that can read deployments, contents and pull requests', token),
  GITHUB_REPOSITORIES: setting(
    'githubRepositories',
    'list',
    undefined,
    'Repositories whose deploys are shown, such as owner/name',
    listOf('repositories such as owner/name', (item) => /^[A-Za-z0-9][\w.-]{0,99}\/(?!\.{1,2}$)[\w.-]{1,100}$/.test(item)),
  ),
} as const
