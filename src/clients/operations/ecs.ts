/** Services of AWS's Elastic Container Service, by its JSON 1.1 API (2014-11-13). */
import { type Provider, ProviderError, type ServiceState, type ServiceStatus } from '../../core/operations.ts'
import { digestOf } from '../../lib/digest.ts'
import { type Ask, type Calling, createAsk, listAt, numberAt, plainAt, stateByCounts, textAt, valueAt } from './calls.ts'

export type EcsAccount = {
  readonly region: string
  readonly clusters: readonly string[]
  readonly keyId: string
  readonly secret: string
  readonly sessionToken?: string | undefined
  /** Unset: that of the region. */
  readonly apiUrl?: string | undefined
}

/** As many as DescribeServices takes. */
const describedAtOnce = 10
const listedAtOnce = 100
/** Of one cluster. */
const servicesMax = 500

/** @param account of a user who may ListServices and DescribeServices */
export function createEcs(account: EcsAccount, calling: Calling): Provider<ServiceStatus> {
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
      const page = await ask(asking, 'ListServices', { cluster, maxResults: listedAtOnce, ...(nextToken ? { nextToken } : {}) })
      names.push(...listAt(page, 'serviceArns').map((_, at) => plainAt(page, 'serviceArns', at)))
      nextToken = textAt(page, 'nextToken')
      if (nextToken === undefined) return names
      if (names.length >= servicesMax) throw new ProviderError(`more than ${servicesMax} services in a cluster`)
    }
  }

  async function servicesIn(asking: Ask, cluster: string): Promise<ServiceStatus[]> {
    const names = await namesIn(asking, cluster)
    const services: ServiceStatus[] = []
    for (let at = 0; at < names.length; at += describedAtOnce) {
      const page = await ask(asking, 'DescribeServices', { cluster, services: names.slice(at, at + describedAtOnce) })
      // What was removed since it was listed is none any more; what may not be seen, or cannot be, is a part that would be missing.
      if (listAt(page, 'failures').some((one) => textAt(one, 'reason') !== 'MISSING'))
        throw new ProviderError('a service could not be described')
      services.push(
        ...listAt(page, 'services')
          .filter(isThere)
          .map((one) => statusOf(one, clusters.length > 1 ? `${cluster}/` : '')),
      )
    }
    return services
  }

  return {
    name: 'ecs',
    // Clusters of the same name are there in every account: the key tells them apart.
    source: `ecs ${url} ${clusters.join()} ${digestOf(keyId).slice(0, 8)}`,
    async ask() {
      const asking = createAsk(calling)
      return (await Promise.all(clusters.map((cluster) => servicesIn(asking, cluster)))).flat()
    },
  }
}

/** What was removed is listed for a while. */
const isThere = (service: unknown) => textAt(service, 'status') !== 'INACTIVE'

function statusOf(service: unknown, prefix: string): ServiceStatus {
  const desired = numberAt(service, 'desiredCount')
  const running = numberAt(service, 'runningCount')
  return {
    service: `${prefix}${plainAt(service, 'serviceName')}`,
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
  const all = valueAt(service, 'deployments')
  // Deployments by CodeDeploy or by others are told elsewhere.
  if (!Array.isArray(all) || all.length === 0) return stateByCounts(desired, running)
  const primary = all.find((one) => textAt(one, 'status') === 'PRIMARY')
  const rollout = textAt(primary, 'rolloutState')
  if (rollout === 'FAILED') return 'degraded'
  return rollout === 'IN_PROGRESS' || all.length > 1 ? 'rolling' : stateByCounts(desired, running)
}
