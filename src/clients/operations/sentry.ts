/** The errors of the projects of an organisation at Sentry. */
import { type ErrorProject, errorWindowHours, type Provider } from '../../core/operations.ts'
import { type Calling, countAt, listAt, textAt, valueAt } from './calls.ts'
import {
  type AskOrganization,
  askingOf,
  type ErrorsAccount,
  eventsOf,
  groupOf,
  mostFrequent,
  type Project,
  pagesOf,
  projectsOf,
  sourceOf,
} from './sentry-api.ts'

const statsPeriod = `${errorWindowHours}h`

/** @param account whose token may read the organisation, its projects and their events (`org:read`, `project:read`, `event:read`) */
export function createSentry(account: ErrorsAccount, calling: Calling): Provider<ErrorProject> {
  const asking = askingOf(account, calling)
  return {
    name: 'sentry',
    source: sourceOf('sentry', account),
    async ask() {
      const ask = asking()
      const projects = await projectsOf(ask, account.projects)
      if (projects.length === 0) return []
      const [events, issues] = await Promise.all([eventsByProject(ask, projects), Promise.all(projects.map((one) => issuesOf(ask, one)))])
      return projects.map(({ id, slug }, at) => ({ project: slug, events: events.get(id) ?? 0, unresolved: 0, top: [], ...issues[at] }))
    },
  }
}

/** Accepted errors: what was filtered or refused is none that anybody sees. */
async function eventsByProject(ask: AskOrganization, projects: readonly Project[]): Promise<ReadonlyMap<string, number>> {
  const { json } = await ask('/stats_v2/', {
    statsPeriod,
    interval: '1h',
    groupBy: 'project',
    field: 'sum(quantity)',
    category: 'error',
    outcome: 'accepted',
    project: projects.map(({ id }) => id),
  })
  return new Map(
    listAt(json, 'groups').map((group): [string, number] => {
      const project = valueAt(group, 'by', 'project')
      return [String(textAt({ project }, 'project') ?? countAt({ project }, 'project')), eventsOf(group)]
    }),
  )
}

/** The unresolved ones that were seen in the window: how many, by Sentry's own count where it says so, and the most frequent. */
async function issuesOf(ask: AskOrganization, { id }: Project): Promise<Pick<ErrorProject, 'unresolved' | 'top'>> {
  const query = { project: id, statsPeriod, query: 'is:unresolved', sort: 'freq', limit: '100', collapse: ['stats', 'unhandled'] }
  let unresolved = 0
  let top: ErrorProject['top'] = []
  for await (const { headers, json } of pagesOf(ask, '/issues/', query)) {
    const groups = listAt(json).map(groupOf)
    if (unresolved === 0) top = mostFrequent(groups)
    unresolved += groups.length
    const hits = headers.get('x-hits')
    if (hits !== null && /^\d{1,9}$/.test(hits)) return { unresolved: Number(hits), top }
  }
  return { unresolved, top }
}
