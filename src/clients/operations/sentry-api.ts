/** What Sentry's API and GlitchTip's have in common. */
import { type ErrorGroup, type ErrorProject, type Provider, ProviderError, topErrors } from '../../core/operations.ts'
import {
  type Answered,
  type Ask,
  type Calling,
  countAt,
  createAsk,
  instantAt,
  listAt,
  needed,
  nextPage,
  numberAt,
  plainAt,
  textAt,
  valueAt,
} from './calls.ts'

export type ErrorsAccount = {
  readonly apiUrl: string
  readonly organization: string
  readonly token: string
  /** Their slugs; none: all of them. */
  readonly projects: readonly string[]
}

export type Project = { readonly id: string; readonly slug: string }
export type Query = Readonly<Record<string, string | readonly string[]>>
/** Asks for something of the organisation. */
export type AskOrganization = (path: string, query?: Query) => Promise<Answered>

const pagesMax = 10
const projectsMax = 50

function askingOf({ apiUrl, organization, token }: ErrorsAccount, calling: Calling): AskOrganization {
  const ask: Ask = createAsk(calling)
  const base = `${apiUrl}/api/0/organizations/${encodeURIComponent(organization)}`
  return (path, query = {}) => {
    const parameters = new URLSearchParams(Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one])))
    return ask(`${base}${path}${parameters.size > 0 ? `?${parameters}` : ''}`, { headers: { authorization: `Bearer ${token}` } })
  }
}

/** A provider that tells of the projects of an account. @param tell what there is to tell of them, by the calls of one question */
export const errorsBy = (
  name: string,
  account: ErrorsAccount,
  calling: Calling,
  tell: (ask: AskOrganization, projects: readonly Project[]) => Promise<ErrorProject[]>,
): Provider<ErrorProject> => ({
  name,
  source: `${name} ${account.apiUrl} ${account.organization} ${account.projects.join()}`,
  async ask() {
    const ask = askingOf(account, calling)
    const projects = await projectsOf(ask, account.projects)
    return projects.length === 0 ? [] : tell(ask, projects)
  },
})

/** The groups of errors of a project that nobody has resolved, page after page. */
export async function* groupsOf(
  ask: AskOrganization,
  project: Project,
  query: Query,
): AsyncGenerator<{ headers: Headers; groups: ErrorGroup[] }> {
  for await (const { headers, json } of pagesOf(ask, '/issues/', { project: project.id, query: 'is:unresolved', limit: '100', ...query }))
    yield { headers, groups: listAt(json).map(groupOf) }
}

/** Page after page, as the `Link` header leads on. Ends where `isEnough` says so. @throws ProviderError of more pages than anybody needs */
async function* pagesOf(ask: AskOrganization, path: string, query: Query = {}): AsyncGenerator<Answered> {
  for (let page = 0, cursor: string | null | undefined; page < pagesMax; page++) {
    // Only the place in the list is taken over, not the address: the token goes nowhere else.
    const answer = await ask(path, { ...query, ...(cursor ? { cursor } : {}) })
    yield answer
    cursor = nextPage(answer.headers)?.get('cursor')
    if (!cursor) return
  }
  throw new ProviderError(`more than ${pagesMax} pages`)
}

/** The projects that are asked for. @throws ProviderError where one of them is not there */
async function projectsOf(ask: AskOrganization, wanted: readonly string[]): Promise<Project[]> {
  const found: Project[] = []
  for await (const { json } of pagesOf(ask, '/projects/')) {
    found.push(...listAt(json).map((one) => ({ id: needed(idAt(one, 'id'), 'no id'), slug: plainAt(one, 'slug') })))
    if (found.length > projectsMax && wanted.length === 0)
      throw new ProviderError(`more than ${projectsMax} projects: name those that count`)
  }
  if (wanted.length === 0) return found
  return wanted.map((slug) =>
    needed(
      found.find((project) => project.slug === slug),
      'a project that is named in the settings is not there',
    ),
  )
}

/** Ids are digits, in a text or as they are. */
const idAt = (json: unknown, name: string): string | undefined => {
  const id = String(textAt(json, name) ?? countAt(json, name))
  return /^\d{1,20}$/.test(id) ? id : undefined
}

function groupOf(issue: unknown): ErrorGroup {
  // Sentry counts in text.
  const told = textAt(issue, 'count')
  const count = told === undefined ? countAt(issue, 'count') : /^\d{1,15}$/.test(told) ? Number(told) : undefined
  return {
    id: textAt(issue, 'shortId') ? plainAt(issue, 'shortId') : plainAt(issue, 'id'),
    title: plainAt(issue, 'title'),
    count: needed(count, 'no count'),
    lastSeen: instantAt(issue, 'lastSeen'),
  }
}

/** The most frequent, and the latest of those that are as frequent. */
export const mostFrequent = (groups: readonly ErrorGroup[]): ErrorGroup[] =>
  [...groups].sort((one, other) => other.count - one.count || (one.lastSeen < other.lastSeen ? 1 : -1)).slice(0, topErrors)

const quantity = 'sum(quantity)'

/**
 * How many errors the statistics count within a time: one entry where they know no groups, else one of each.
 * @param query which time, which projects, and by what they are grouped
 */
export async function errorsCounted(ask: AskOrganization, query: Query): Promise<{ project: string | undefined; events: number }[]> {
  const { json } = await ask('/stats_v2/', { category: 'error', field: quantity, interval: '1h', ...query })
  return listAt(json, 'groups').map((group) => ({ project: idAt(valueAt(group, 'by'), 'project'), events: eventsOf(group) }))
}

/** How many events a group of the statistics counts: its total, else what its series adds up to. */
function eventsOf(group: unknown): number {
  if (valueAt(group, 'totals', quantity) !== undefined) return numberAt(group, 'totals', quantity)
  return listAt(group, 'series', quantity).reduce<number>(
    (sum, one, at) => sum + (one === null ? 0 : numberAt(group, 'series', quantity, at)),
    0,
  )
}
