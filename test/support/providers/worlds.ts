/** A stand-in for each provider with sample data, and the values that its client must return. */
import { join } from 'node:path'
import { createEcs } from '../../../src/clients/operations/ecs.ts'
import { createGithub } from '../../../src/clients/operations/github.ts'
import { createGlitchtip } from '../../../src/clients/operations/glitchtip.ts'
import { createSentry } from '../../../src/clients/operations/sentry.ts'
import { createSwarm } from '../../../src/clients/operations/swarm.ts'
import { createSafeFetch } from '../../../src/clients/safe-fetch.ts'
import type { Provider } from '../../../src/core/operations.ts'
import docker from '../../data/providers/docker.json'
import ecsDescription from '../../data/providers/ecs.json'
import githubDescription from '../../data/providers/github.json'
import sentryDescription from '../../data/providers/sentry.json'
import { temporaryDir } from '../database.ts'
import { type Description, type ReceivedRequest, type SentResponse, type StandIn, type StandInOptions, startStandIn } from './stand-in.ts'

export type ProviderFixture = {
  provider: Provider<unknown>
  server: StandIn
  /** Values that the client must return. */
  expected: unknown[]
  /** Removes all data. */
  empty(): void
  /** ECS only: makes its first service fail with a reason. */
  failing?(reason: string): void
}
type Start = (totalMs: number) => Promise<ProviderFixture>

export const now = Date.UTC(2026, 0, 6, 12)
const iso = (hoursAgo: number) => new Date(now - hoursAgo * 3_600_000).toISOString()
const callOptions = (totalMs: number) => ({ safeFetch: createSafeFetch({ allowedNetworks: [] }), now: () => now, totalMs })
/** Types a description that was read from JSON. */
const asDescription = (description: unknown) => description as Description

/** ECS with twelve services, which need two pages and two calls to describe them. */
const ecs: Start = async (totalMs) => {
  const secret = 'wJalr/secret+key'
  let names = Array.from({ length: 12 }, (_, nth) => `service-${nth}`)
  const arn = (name: string) => `arn:aws:ecs:eu-central-1:1234:service/live/${name}`
  const deployment = (rolloutState: string, status = 'PRIMARY') => ({ status, rolloutState, desiredCount: 2, runningCount: 2 })
  const overrides: Record<string, object> = {
    'service-1': { runningCount: 1 },
    'service-2': { runningCount: 1, pendingCount: 1, deployments: [deployment('IN_PROGRESS'), deployment('COMPLETED', 'ACTIVE')] },
    'service-3': { deployments: [deployment('FAILED')] },
    'service-4': { status: 'DRAINING', desiredCount: 0 },
    'service-5': { status: 'INACTIVE' },
    'service-6': { deployments: [], runningCount: 3 },
  }
  const service = (name: string) => ({
    serviceArn: arn(name),
    serviceName: name,
    status: 'ACTIVE',
    ...{ desiredCount: 2, runningCount: 2, pendingCount: 0 },
    taskDefinition: `arn:aws:ecs:eu-central-1:1234:task-definition/${name}:7`,
    deployments: [deployment('COMPLETED')],
    ...overrides[name],
  })
  let reason: string | undefined
  const options: StandInOptions = {
    description: asDescription(ecsDescription),
    contentType: 'application/x-amz-json-1.1',
    throttled: { status: 400, json: { __type: 'ThrottlingException', message: 'Rate exceeded' } },
    answer({ headers, body, path, method }): SentResponse {
      const [, operation = ''] = String(headers['x-amz-target']).split('.')
      const input = body as { services?: string[]; nextToken?: string; cluster: string }
      if (method !== 'POST' || path !== '/' || input.cluster !== 'live') throw new Error('not a call of this API')
      if (
        !/Credential=AKIA1\/20260106\/eu-central-1\/ecs\/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, /.test(
          String(headers.authorization),
        )
      )
        throw new Error('not signed as ECS wants it')
      if (operation === 'ListServices') {
        const [page, rest] = input.nextToken ? [names.slice(7), undefined] : [names.slice(0, 7), names.length > 7 ? 'next+/=' : undefined]
        return { operation, json: { serviceArns: page.map(arn), ...(rest ? { nextToken: rest } : {}) } }
      }
      if ((input.services ?? []).length > 10) return { operation, status: 400, json: { __type: 'InvalidParameterException' } }
      const asked = input.services ?? []
      const failed = asked.filter((one) => reason !== undefined && one.endsWith('/service-0'))
      const services = asked.filter((one) => !failed.includes(one)).map((one) => service(one.split('/').at(-1) ?? ''))
      return { operation, json: { services, failures: failed.map((one) => ({ arn: one, reason })) } }
    },
  }
  const server = await startStandIn(options)
  const account = { region: 'eu-central-1', clusters: ['live'], keyId: 'AKIA1', secret, apiUrl: server.url }
  const told = (nth: number, running: number, state: string, more: object = {}) => ({
    ...{ service: `service-${nth}`, desired: 2, running, pending: 0, revision: `service-${nth}:7`, state },
    ...more,
  })
  return {
    provider: createEcs(account, callOptions(totalMs)),
    server,
    expected: [
      told(0, 2, 'steady'),
      told(1, 1, 'degraded'),
      told(2, 1, 'rolling', { pending: 1 }),
      told(3, 2, 'degraded'),
      told(4, 2, 'rolling', { desired: 0 }),
      told(6, 3, 'steady'),
      ...[7, 8, 9, 10, 11].map((nth) => told(nth, 2, 'steady')),
    ],
    empty() {
      names = []
    },
    failing(said) {
      reason = said
    },
  }
}

const swarm: Start = async (totalMs) => {
  const socket = join(temporaryDir(), 'docker.sock')
  const service = (ID: string, Mode: object, counts: object, more: object = {}) => ({
    ...{ ID, Spec: { Name: `shop_${ID}`, Mode, TaskTemplate: { ContainerSpec: { Image: 'shop/souk:1.2.3@sha256:abc' } } } },
    ServiceStatus: counts,
    ...more,
  })
  const three = { Replicated: { Replicas: 3 } }
  let services = [
    service('web', three, { RunningTasks: 3, DesiredTasks: 3 }),
    service('agent', { Global: {} }, { RunningTasks: 1, DesiredTasks: 2 }),
    service('new', three, { RunningTasks: 2, DesiredTasks: 3 }, { UpdateStatus: { State: 'updating' } }),
    service('stuck', three, { RunningTasks: 3, DesiredTasks: 3 }, { UpdateStatus: { State: 'paused' } }),
  ]
  const task = (ServiceID: string, State: string) => ({
    ID: `${ServiceID}-${State}`,
    ServiceID,
    Status: { State },
    DesiredState: 'running',
  })
  const server = await startStandIn({
    socket,
    description: asDescription(docker),
    throttled: { status: 429, headers: { 'retry-after': '30' }, json: { message: 'too many requests' } },
    answer: ({ path, query }) => {
      if (path === '/services') return { operation: 'GET /services', json: query.get('status') === 'true' ? services : [] }
      return {
        operation: `GET ${path}`,
        json: [task('web', 'running'), task('new', 'preparing'), task('new', 'running'), task('gone', 'running')],
      }
    },
  })
  const told = (name: string, desired: number, running: number, state: string, pending = 0) => ({
    ...{ service: `shop_${name}`, desired, running, pending, revision: 'shop/souk:1.2.3@sha256:abc', state },
  })
  return {
    provider: createSwarm({ socket }, { now: () => now, totalMs }),
    server,
    expected: [
      told('web', 3, 3, 'steady'),
      told('agent', 2, 1, 'degraded'),
      told('new', 3, 2, 'rolling', 1),
      told('stuck', 3, 3, 'degraded'),
    ],
    empty() {
      services = []
    },
  }
}

type Issue = { id: string; shortId: string; title: string; count: string; lastSeen: string }
const issue = (nth: number, count: number, hoursAgo: number, title = `TypeError ${nth}`): Issue => ({
  ...{ id: String(1_000 + nth), shortId: `SHOP-${nth}`, title, count: String(count), lastSeen: iso(hoursAgo) },
})
/** Seven issues of the last day, and two older ones. */
const issues = [
  ...[1, 2, 3, 4, 5, 6].map((nth) => issue(nth, nth, nth)),
  issue(7, 90, 20, `Bad \u202Egpj.exe\u0007 ${'x'.repeat(500)}`),
  issue(8, 500, 30),
  issue(9, 1, 90),
]
const top = [
  { id: 'SHOP-7', title: `Bad gpj.exe ${'x'.repeat(187)}…`, count: 90, lastSeen: iso(20) },
  ...[6, 5, 4, 3].map((nth) => ({ id: `SHOP-${nth}`, title: `TypeError ${nth}`, count: nth, lastSeen: iso(nth) })),
]
const published = '/api/0/organizations/{organization_id_or_slug}'
const anyProject = sampleOf(sentryDescription.operations[`GET ${published}/projects/`].answer.items)
const anyIssue = sampleOf(sentryDescription.operations[`GET ${published}/issues/`].answer.items)
const projectOf = (id: string, slug: string) => ({ ...anyProject, id, slug })
const linkTo = (path: string, next: string | undefined) => ({
  link: [
    `<https://elsewhere.example${path}?cursor=0:0:1>; rel="previous"; results="false"; cursor="0:0:1"`,
    `<https://elsewhere.example${path}?cursor=${next ?? '0:100:0'}>; rel="next"; results="${next ? 'true' : 'false'}"; cursor="${next ?? '0:100:0'}"`,
  ].join(', '),
})

/** Projects with one per page, and issues with five (Sentry) or three (GlitchTip) per page. */
function errorsWorld(isSentry: boolean) {
  let projects = [projectOf('11', 'shop'), projectOf('12', 'quiet')]
  const base = '/api/0/organizations/my-shop'
  function answer({ path, query, headers }: ReceivedRequest): SentResponse {
    const operation = `GET ${path.replace(base, published)}`
    if (headers.authorization !== 'Bearer token-1') return { operation, status: 401, json: {} }
    const cursor = query.get('cursor')
    if (path === `${base}/projects/`) {
      const page = cursor ? projects.slice(1) : projects.slice(0, 1)
      return { operation, headers: linkTo(path, cursor || projects.length < 2 ? undefined : '0:1:0'), json: page }
    }
    const [id] = query.getAll('project')
    if (path === `${base}/stats_v2/`) {
      const series = { 'sum(quantity)': [40, null, 2] }
      const groups = isSentry
        ? [{ by: { project: 11 }, totals: { 'sum(quantity)': 42 }, series: { 'sum(quantity)': [40, 2] } }]
        : [{ series: id === '11' ? series : { 'sum(quantity)': [null] } }]
      return { operation, json: { start: iso(24), end: iso(0), intervals: [iso(2), iso(1)], groups } }
    }
    const isDay = isSentry && query.get('statsPeriod') === '24h'
    const found = id === '11' ? issues.filter(({ lastSeen }) => !isDay || lastSeen >= iso(24)) : []
    const sorted = isSentry ? found.toSorted((one, other) => Number(other.count) - Number(one.count)) : found
    const from = Number(cursor?.split(':')[1] ?? 0)
    const size = isSentry ? 5 : 3
    const next = from + size < sorted.length ? `0:${from + size}:0` : undefined
    return { operation, headers: linkTo(path, next), json: sorted.slice(from, from + size).map((one) => ({ ...anyIssue, ...one })) }
  }
  return {
    answer,
    empty() {
      projects = []
    },
    expected: [
      { project: 'shop', events: 42, unresolved: 7, top },
      { project: 'quiet', events: 0, unresolved: 0, top: [] },
    ],
  }
}

const throttledBySentry = {
  status: 429,
  headers: { 'retry-after': '30' },
  json: { detail: 'You are attempting to use this endpoint too frequently.' },
}
const account = { organization: 'my-shop', token: 'token-1', projects: [] }

const sentry: Start = async (totalMs) => {
  const { answer, ...world } = errorsWorld(true)
  const server = await startStandIn({ description: asDescription(sentryDescription), throttled: throttledBySentry, answer })
  return { provider: createSentry({ apiUrl: server.url, ...account }, callOptions(totalMs)), server, ...world }
}

/** GlitchTip, whose API equals Sentry's. It publishes no description, so responses are not validated. */
const glitchtip: Start = async (totalMs) => {
  const { answer, ...world } = errorsWorld(false)
  const loose = Object.fromEntries(Object.keys(sentryDescription.operations).map((name) => [name, { answer: {} }]))
  const server = await startStandIn({ description: { source: '', operations: loose }, throttled: throttledBySentry, answer })
  return { provider: createGlitchtip({ apiUrl: server.url, ...account }, callOptions(totalMs)), server, ...world }
}

/**
 * GitHub with a repository whose first page has only failed deployments, and one that was deployed without a pull
 * request.
 */
const github: Start = async (totalMs) => {
  const sha = (nth: number) => String(nth).padStart(40, 'a')
  const page = githubDescription.operations['GET /repos/{owner}/{repo}/deployments'].answer
  const fill = sampleOf(page.items)
  const deployment = (id: number) => ({ ...fill, id, sha: sha(id), environment: 'production', created_at: iso(30 - id) })
  let known: Record<string, ReturnType<typeof deployment>[]> = {
    'shop/souk': Array.from({ length: 12 }, (_, nth) => deployment(20 - nth)),
    'shop/site': [deployment(5)],
    'shop/new': [],
  }
  const statusOf = sampleOf(githubDescription.operations['GET /repos/{owner}/{repo}/deployments/{deployment_id}/statuses'].answer.items)
  const pull = sampleOf(githubDescription.operations['GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls'].answer.items)
  const commit = sampleOf(githubDescription.operations['GET /repos/{owner}/{repo}/commits/{ref}'].answer)
  const server = await startStandIn({
    description: asDescription(githubDescription),
    throttled: {
      status: 403,
      headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now / 1_000 + 30) },
      json: { message: 'API rate limit exceeded' },
    },
    answer({ path, query, headers }) {
      const [, repository = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)(\/.*)$/.exec(path) ?? []
      const operation = (form: string) => `GET /repos/{owner}/{repo}${form}`
      if (headers.authorization !== 'Bearer token-1') return { operation: operation('/deployments'), status: 401, json: {} }
      const tag = `"${path}${query}${Object.keys(known).length}"`
      if (headers['if-none-match'] === tag) return { operation: operation('/deployments'), status: 304, json: undefined }
      if (rest === '/deployments') {
        const from = (Number(query.get('page')) - 1) * 10
        const all = known[repository] ?? []
        const next =
          from + 10 < all.length
            ? { link: `<https://elsewhere.example/x?per_page=10&page=${query.get('page') === '1' ? 2 : 3}>; rel="next"` }
            : {}
        return { operation: operation(rest), headers: { etag: tag, ...next }, json: all.slice(from, from + 10) }
      }
      const [, id] = /^\/deployments\/(\d+)\/statuses$/.exec(rest) ?? []
      if (id !== undefined) {
        const status = (state: string, hoursAgo: number) => ({ ...statusOf, state, created_at: iso(hoursAgo) })
        const isGood = id === '10' || id === '5'
        const json = isGood ? [status('inactive', 1), status('success', 9), status('in_progress', 10)] : [status('failure', 2)]
        return { operation: operation('/deployments/{deployment_id}/statuses'), headers: { etag: tag }, json }
      }
      if (rest.endsWith('/pulls')) {
        const one = {
          ...pull,
          title: 'Mend the till',
          merged_at: iso(12),
          html_url: 'https://github.com/shop/souk/pull/7',
          user: { ...pull.user, login: 'ana' },
        }
        return { operation: operation('/commits/{commit_sha}/pulls'), json: repository === 'shop/souk' ? [one] : [] }
      }
      const message = 'Write the page\u0000\u202E anew\n\nAt last.'
      const { author } = commit.commit
      return {
        operation: operation('/commits/{ref}'),
        json: {
          ...commit,
          sha: sha(5),
          html_url: 'https://github.com/shop/site/commit/5',
          author: null,
          commit: { ...commit.commit, message, author: { ...author, name: 'Bo' } },
        },
      }
    },
  })
  const repositories = Object.keys(known)
  return {
    provider: createGithub({ apiUrl: server.url, token: 'token-1', repositories, environment: 'production' }, callOptions(totalMs)),
    server,
    expected: [
      {
        ...{ service: 'shop/souk', environment: 'production', revision: sha(10), deployedAt: iso(9) },
        change: { sha: sha(10), title: 'Mend the till', author: 'ana', url: 'https://github.com/shop/souk/pull/7' },
      },
      {
        ...{ service: 'shop/site', environment: 'production', revision: sha(5), deployedAt: iso(9) },
        change: { sha: sha(5), title: 'Write the page anew', author: 'Bo', url: 'https://github.com/shop/site/commit/5' },
      },
    ],
    empty() {
      known = {}
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: any JSON value
type Sample = any
/** Returns a minimal value of a schema. */
function sampleOf(schema: { [name: string]: unknown }): Sample {
  const {
    type,
    properties = {},
    required = [],
    enum: words,
    anyOf,
    allOf,
  } = schema as {
    type?: string | string[]
    properties?: Record<string, Record<string, unknown>>
    required?: string[]
    enum?: unknown[]
    anyOf?: Record<string, unknown>[]
    allOf?: Record<string, unknown>[]
  }
  if (words) return words[0]
  if (anyOf?.[0]) return sampleOf(anyOf[0])
  if (allOf) return Object.assign({}, ...allOf.map(sampleOf))
  const [kind] = [type].flat()
  if (kind === 'object' || required.length > 0) return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})]))
  return { array: [], string: 'text', integer: 1, number: 1, boolean: false, null: null }[kind ?? 'null'] ?? null
}

export const providerFixtures: Record<string, Start> = { ecs, swarm, sentry, glitchtip, github }
