/** The errors of the projects of an organisation at Sentry. */
import { type ErrorProject, errorWindowHours, type Provider } from '../../core/operations.ts'
import type { Calling } from './calls.ts'
import { type AskOrganization, type ErrorsAccount, errorsBy, errorsCounted, groupsOf, mostFrequent, type Project } from './sentry-api.ts'

const statsPeriod = `${errorWindowHours}h`

/** @param account whose token may read the organisation, its projects and their events (`org:read`, `project:read`, `event:read`) */
export const createSentry = (account: ErrorsAccount, calling: Calling): Provider<ErrorProject> =>
  errorsBy('sentry', account, calling, async (ask, projects) => {
    const [events, issues] = await Promise.all([eventsByProject(ask, projects), Promise.all(projects.map((one) => issuesOf(ask, one)))])
    return projects.map(({ id, slug }, at) => ({ project: slug, events: events.get(id) ?? 0, unresolved: 0, top: [], ...issues[at] }))
  })

/** Accepted errors: what was filtered or refused is none that anybody sees. */
async function eventsByProject(ask: AskOrganization, projects: readonly Project[]): Promise<ReadonlyMap<string | undefined, number>> {
  const ids = projects.map(({ id }) => id)
  const counted = await errorsCounted(ask, { statsPeriod, groupBy: 'project', outcome: 'accepted', project: ids })
  return new Map(counted.map(({ project, events }) => [project, events]))
}

/** The unresolved ones that were seen in the window: how many, by Sentry's own count where it says so, and the most frequent. */
async function issuesOf(ask: AskOrganization, project: Project): Promise<Pick<ErrorProject, 'unresolved' | 'top'>> {
  let unresolved = 0
  let top: ErrorProject['top'] = []
  for await (const { headers, groups } of groupsOf(ask, project, { statsPeriod, sort: 'freq', collapse: ['stats', 'unhandled'] })) {
    if (unresolved === 0) top = mostFrequent(groups)
    unresolved += groups.length
    const hits = headers.get('x-hits')
    if (hits !== null && /^\d{1,9}$/.test(hits)) return { unresolved: Number(hits), top }
  }
  return { unresolved, top }
}
