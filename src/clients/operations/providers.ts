/** Creates the configured providers. */
import type { Config } from '../../config.ts'
import type { Deploy, ErrorProject, Provider, ServiceStatus } from '../../core/operations.ts'
import type { ProviderPort } from './calls.ts'
import { createEcs } from './ecs.ts'
import { createGithub } from './github.ts'
import { createGlitchtip } from './glitchtip.ts'
import { createSentry } from './sentry.ts'
import { createSwarm } from './swarm.ts'
import { createSystemd } from './systemd.ts'

/** Undefined: the instance reports its own status. */
type ExternalProviders = {
  readonly services: Provider<ServiceStatus> | undefined
  readonly errors: Provider<ErrorProject> | undefined
  readonly deploys: Provider<Deploy> | undefined
}

/** The settings guarantee that required values are present. */
const orEmpty = (value: string | undefined): string => value ?? ''

function servicesBy(config: Config, calling: ProviderPort): Provider<ServiceStatus> | undefined {
  const { ecsRegion, ecsClusters: clusters, ecsKeyId, ecsSecret, ecsSessionToken: sessionToken, ecsApiUrl: apiUrl } = config
  if (config.operationsServices === 'ecs')
    return createEcs(
      { region: orEmpty(ecsRegion), clusters, keyId: orEmpty(ecsKeyId), secret: orEmpty(ecsSecret), sessionToken, apiUrl },
      calling,
    )
  if (config.operationsServices === 'swarm') return createSwarm({ socket: config.swarmSocket }, calling)
  return config.operationsServices === 'systemd' ? createSystemd({ units: config.systemdUnits }) : undefined
}

function errorsBy(config: Config, calling: ProviderPort): Provider<ErrorProject> | undefined {
  const account = { organization: orEmpty(config.errorsOrganization), token: orEmpty(config.errorsToken), projects: config.errorsProjects }
  if (config.operationsErrors === 'sentry') return createSentry({ apiUrl: config.sentryApiUrl, ...account }, calling)
  return config.operationsErrors === 'glitchtip'
    ? createGlitchtip({ apiUrl: orEmpty(config.glitchtipApiUrl), ...account }, calling)
    : undefined
}

function deploysBy(config: Config, calling: ProviderPort): Provider<Deploy> | undefined {
  const { githubApiUrl: apiUrl, githubToken, githubRepositories: repositories, operationsEnvironment: environment } = config
  return config.operationsDeploys === 'github'
    ? createGithub({ apiUrl, token: orEmpty(githubToken), repositories, environment }, calling)
    : undefined
}

/** Creates the configured providers without calling them. */
export const createProviders = (config: Config, calling: ProviderPort): ExternalProviders => ({
  services: servicesBy(config, calling),
  errors: errorsBy(config, calling),
  deploys: deploysBy(config, calling),
})
