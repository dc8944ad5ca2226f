/** Reads services of AWS ECS with its JSON 1.1 API (2014-11-13). */
import { type Provider, ProviderError, type ServiceState, type ServiceStatus } from '../../core/operations.ts'
import { sha256 } from '../../lib/seal.ts'
import { type Ask, createAsk, displayTextAt, listAt, numberAt, type ProviderPort, stateByCounts, textAt, valueAt } from './calls.ts'

type EcsAccount = {
  readonly region: string
  readonly clusters: readonly string[]
  readonly keyId: string
  readonly secret: string
  readonly sessionToken?: string | undefined
  /** Defaults to the URL of the region. */
  readonly apiUrl?: string | undefined
}

/** The limit of DescribeServices. */
const describeBatch = 10
const listBatch = 100
/** Per cluster. */
const servicesMax = 500

/**
 * Creates the provider for an ECS cluster.
 * @param account needs ListServices and DescribeServices
 */
export function createEcs(account: EcsAccount, calling: ProviderPort): Provider<ServiceStatus> {
  const { region, clusters, keyId, secret, sessionToken } = account
  const url = `${account.apiUrl ?? `https://ecs.${region}.amazonaws.com`}/`

  async function ask(asking: Ask, operation: string, input: object): Promise<unknown> {
    const { AwsV4Signer } = await import('aws4fetch')
    const body = JSON.stringify(input)
    const signer = new AwsV4Signer({
      url,
      method: 'POST',
      headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `AmazonEC2ContainerServiceV20141113.${operation}` },
      body,
      accessKeyId: keyId,
      secretAccessKey: secret,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      service: 'ecs',
      region,
      datetime: new Date(calling.now()).toISOString().replace(/[-:]|\.\d{3}/g, ''),
    })
    const { headers } = await signer.sign()
    return (await asking(url, { method: 'POST', headers: Object.fromEntries(headers), body })).json
  }

  async function namesIn(asking: Ask, cluster: string): Promise<string[]> {
    const names: string[] = []
    for (let nextToken: string | undefined; ; ) {
      const page = await ask(asking, 'ListServices', { cluster, maxResults: listBatch, ...(nextToken ? { nextToken } : {}) })
      names.push(...listAt(page, 'serviceArns').map((_, index) => displayTextAt(page, 'serviceArns', index)))
      nextToken = textAt(page, 'nextToken')
      if (nextToken === undefined) return names
      if (names.length >= servicesMax) throw new ProviderError(`more than ${servicesMax} services in a cluster`)
    }
  }

  async function servicesIn(asking: Ask, cluster: string): Promise<ServiceStatus[]> {
    const names = await namesIn(asking, cluster)
    const services: ServiceStatus[] = []
    for (let offset = 0; offset < names.length; offset += describeBatch) {
      const page = await ask(asking, 'DescribeServices', { cluster, services: names.slice(offset, offset + describeBatch) })
      // A service that was removed since the listing is skipped; any other failure would hide services.
      if (listAt(page, 'failures').some((failure) => textAt(failure, 'reason') !== 'MISSING'))
        throw new ProviderError('a service could not be described')
      services.push(
        ...listAt(page, 'services')
          .filter(isActive)
          .map((service) => statusOf(service, clusters.length > 1 ? `${cluster}/` : '')),
      )
    }
    return services
  }

  return {
    name: 'ecs',
    // The key distinguishes clusters of the same name in different accounts.
    source: `ecs ${url} ${clusters.join()} ${sha256(keyId).slice(0, 8)}`,
    async ask() {
      const asking = createAsk(calling)
      return (await Promise.all(clusters.map((cluster) => servicesIn(asking, cluster)))).flat()
    },
  }
}

/** Removed services are listed for a while. */
const isActive = (service: unknown) => textAt(service, 'status') !== 'INACTIVE'

function statusOf(service: unknown, prefix: string): ServiceStatus {
  const desired = numberAt(service, 'desiredCount')
  const running = numberAt(service, 'runningCount')
  return {
    service: `${prefix}${displayTextAt(service, 'serviceName')}`,
    desired,
    running,
    pending: numberAt(service, 'pendingCount'),
    revision: revisionOf(textAt(service, 'taskDefinition')),
    state: stateOf(service, desired, running),
  }
}

/** `arn:aws:ecs:…:task-definition/shop:12` → `shop:12`. */
const revisionOf = (arn: string | undefined): string => arn?.split('/').at(-1)?.slice(0, 200) || 'unknown'

function stateOf(service: unknown, desired: number, running: number): ServiceState {
  if (textAt(service, 'status') !== 'ACTIVE') return 'rolling'
  const deployments = valueAt(service, 'deployments')
  // Deployments by CodeDeploy and external controllers are not listed.
  if (!Array.isArray(deployments) || deployments.length === 0) return stateByCounts(desired, running)
  const primary = deployments.find((deployment) => textAt(deployment, 'status') === 'PRIMARY')
  const rollout = textAt(primary, 'rolloutState')
  if (rollout === 'FAILED') return 'degraded'
  return rollout === 'IN_PROGRESS' || deployments.length > 1 ? 'rolling' : stateByCounts(desired, running)
}
