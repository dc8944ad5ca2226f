/** The providers that the settings name. */
import type { Config } from '../../config.ts'
import type { Deploy, ErrorProject, Provider, ServiceStatus } from '../../core/operations.ts'
import type { Calling } from './calls.ts'
import { createEcs } from './ecs.ts'
import { createGithub } from './github.ts'
import { createGlitchtip } from './glitchtip.ts'
import { createSentry } from './sentry.ts'
import { createSwarm } from './swarm.ts'
import { createSystemd } from './systemd.ts'

/** Undefined: souk tells of itself. */
export type OutsideProviders = {
  readonly services: Provider<ServiceStatus> | undefined
  readonly errors: Provider<ErrorProject> | undefined
  readonly deploys: Provider<Deploy> | undefined
}

/** What a provider cannot do without was looked at with the settings. */
const set = (value: string | undefined): string => value ?? ''

function servicesBy(config: Config, calling: Calling): Provider<ServiceStatus> | undefined {
  const { ecsRegion, ecsClusters: clusters, ecsKeyId, ecsSecret, ecsSessionToken: sessionToken, ecsApiUrl: apiUrl } = config
  if (config.operationsServices === 'ecs')
    return createEcs({ region: set(ecsRegion), clusters, keyId: set(ecsKeyId), secret: set(ecsSecret), sessionToken, apiUrl }, calling)
  if (config.operationsServices === 'swarm') return createSwarm({ socket: config.swarmSocket }, calling)
  return config.operationsServices === 'systemd' ? createSystemd({ units: config.systemdUnits }) : undefined
}

function errorsBy(config: Config, calling: Calling): Provider<ErrorProject> | undefined {
  const account = { organization: set(config.errorsOrganization), token: set(config.errorsToken), projects: config.errorsProjects }
  if (config.operationsErrors === 'sentry') return createSentry({ apiUrl: config.sentryApiUrl, ...account }, calling)
  return config.operationsErrors === 'glitchtip' ? createGlitchtip({ apiUrl: set(config.glitchtipApiUrl), ...account }, calling) : undefined
}

function deploysBy(config: Config, calling: Calling): Provider<Deploy> | undefined {
  const { githubApiUrl: apiUrl, githubToken, githubRepositories: repositories, operationsEnvironment: environment } = config
  return config.operationsDeploys === 'github'
    ? createGithub({ apiUrl, token: set(githubToken), repositories, environment }, calling)
    : undefined
}

/** Makes those that the settings name. None is asked anything yet. */
export const createProviders = (config: Config, calling: Calling): OutsideProviders => ({
  services: servicesBy(config, calling),
  errors: errorsBy(config, calling),
  deploys: deploysBy(config, calling),
})
