/** The API that Sentry and GlitchTip share. */
import { type ErrorGroup, type ErrorProject, type Provider, ProviderError, topErrors } from '../../core/operations.ts'
import {
  type Ask,
  countAt,
  createAsk,
  displayTextAt,
  instantAt,
  listAt,
  nextPage,
  numberAt,
  type ProviderPort,
  type ProviderResponse,
  requireValue,
  textAt,
  valueAt,
} from './calls.ts'

export type ErrorsAccount = {
  readonly apiUrl: string
  readonly organization: string
  readonly token: string
  /** Slugs; empty for all projects. */
  readonly projects: readonly string[]
}

export type Project = { readonly id: string; readonly slug: string }
type Query = Readonly<Record<string, string | readonly string[]>>
/** Calls an endpoint of the organisation. */
export type AskOrganization = (path: string, query?: Query) => Promise<ProviderResponse>

const pagesMax = 10
const projectsMax = 50

function createOrganizationAsk({ apiUrl, organization, token }: ErrorsAccount, calling: ProviderPort): AskOrganization {
  const ask: Ask = createAsk(calling)
  const base = `${apiUrl}/api/0/organizations/${encodeURIComponent(organization)}`
  return (path, query = {}) => {
    const parameters = new URLSearchParams(Object.entries(query).flatMap(([name, value]) => [value].flat().map((item) => [name, item])))
    return ask(`${base}${path}${parameters.size > 0 ? `?${parameters}` : ''}`, { headers: { authorization: `Bearer ${token}` } })
  }
}

/**
 * Creates a provider of an account's projects.
 * @param readProjects makes the calls of one query
 */
export const errorsBy = (
  name: string,
  account: ErrorsAccount,
  calling: ProviderPort,
  readProjects: (ask: AskOrganization, projects: readonly Project[]) => Promise<ErrorProject[]>,
): Provider<ErrorProject> => ({
  name,
  source: `${name} ${account.apiUrl} ${account.organization} ${account.projects.join()}`,
  async ask() {
    const ask = createOrganizationAsk(account, calling)
    const projects = await projectsOf(ask, account.projects)
    return projects.length === 0 ? [] : readProjects(ask, projects)
  },
})

/** Yields pages of unresolved error groups of a project. */
export async function* groupsOf(
  ask: AskOrganization,
  project: Project,
  query: Query,
): AsyncGenerator<{ headers: Headers; groups: ErrorGroup[] }> {
  for await (const { headers, json } of pagesOf(ask, '/issues/', { project: project.id, query: 'is:unresolved', limit: '100', ...query }))
    yield { headers, groups: listAt(json).map(groupOf) }
}

/**
 * Yields pages, following the `Link` header.
 * @throws ProviderError above the page limit
 */
async function* pagesOf(ask: AskOrganization, path: string, query: Query = {}): AsyncGenerator<ProviderResponse> {
  for (let page = 0, cursor: string | null | undefined; page < pagesMax; page++) {
    // Uses only the cursor, so that the token is never sent to another host.
    const answer = await ask(path, { ...query, ...(cursor ? { cursor } : {}) })
    yield answer
    cursor = nextPage(answer.headers)?.get('cursor')
    if (!cursor) return
  }
  throw new ProviderError(`more than ${pagesMax} pages`)
}

/**
 * Reads the configured projects.
 * @throws ProviderError if one does not exist
 */
async function projectsOf(ask: AskOrganization, slugs: readonly string[]): Promise<Project[]> {
  const projects: Project[] = []
  for await (const { json } of pagesOf(ask, '/projects/')) {
    projects.push(
      ...listAt(json).map((project) => ({ id: requireValue(idAt(project, 'id'), 'no id'), slug: displayTextAt(project, 'slug') })),
    )
    if (projects.length > projectsMax && slugs.length === 0)
      throw new ProviderError(`more than ${projectsMax} projects: name the ones to read in ERRORS_PROJECTS`)
  }
  if (slugs.length === 0) return projects
  return slugs.map((slug) =>
    requireValue(
      projects.find((project) => project.slug === slug),
      'a project named in the settings does not exist',
    ),
  )
}

/** Ids are digits, as text or number. */
const idAt = (json: unknown, name: string): string | undefined => {
  const id = String(textAt(json, name) ?? countAt(json, name))
  return /^\d{1,20}$/.test(id) ? id : undefined
}

function groupOf(issue: unknown): ErrorGroup {
  // Sentry sends counts as text.
  const countText = textAt(issue, 'count')
  const count = countText === undefined ? countAt(issue, 'count') : /^\d{1,15}$/.test(countText) ? Number(countText) : undefined
  return {
    id: textAt(issue, 'shortId') ? displayTextAt(issue, 'shortId') : displayTextAt(issue, 'id'),
    title: displayTextAt(issue, 'title'),
    count: requireValue(count, 'no count'),
    lastSeen: instantAt(issue, 'lastSeen'),
  }
}

/** Returns the most frequent groups, the latest first among equals. */
export const mostFrequent = (groups: readonly ErrorGroup[]): ErrorGroup[] =>
  [...groups].sort((a, b) => b.count - a.count || (a.lastSeen < b.lastSeen ? 1 : -1)).slice(0, topErrors)

const quantity = 'sum(quantity)'

/**
 * Counts errors within a time: one entry without grouping, otherwise one per group.
 * @param query time, projects and grouping
 */
export async function errorsCounted(ask: AskOrganization, query: Query): Promise<{ project: string | undefined; events: number }[]> {
  const { json } = await ask('/stats_v2/', { category: 'error', field: quantity, interval: '1h', ...query })
  return listAt(json, 'groups').map((group) => ({ project: idAt(valueAt(group, 'by'), 'project'), events: eventsOf(group) }))
}

/** Returns the events of a group: its total, otherwise the sum of its series. */
function eventsOf(group: unknown): number {
  if (valueAt(group, 'totals', quantity) !== undefined) return numberAt(group, 'totals', quantity)
  return listAt(group, 'series', quantity).reduce<number>(
    (sum, value, index) => sum + (value === null ? 0 : numberAt(group, 'series', quantity, index)),
    0,
  )
}
