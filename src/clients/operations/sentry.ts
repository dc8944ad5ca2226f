/** Reads the errors of an organisation's projects from Sentry. */
import { type ErrorProject, errorWindowHours, type Provider } from '../../core/operations.ts'
import type { ProviderPort } from './calls.ts'
import { type AskOrganization, type ErrorsAccount, errorsBy, errorsCounted, groupsOf, mostFrequent, type Project } from './sentry-api.ts'

const statsPeriod = `${errorWindowHours}h`

/**
 * Creates the provider for Sentry.
 * @param account its token needs `org:read`, `project:read` and `event:read`
 */
export const createSentry = (account: ErrorsAccount, calling: ProviderPort): Provider<ErrorProject> =>
  errorsBy('sentry', account, calling, async (ask, projects) => {
    const [events, issues] = await Promise.all([
      eventsByProject(ask, projects),
      Promise.all(projects.map((project) => issuesOf(ask, project))),
    ])
    return projects.map(({ id, slug }, index) => ({ project: slug, events: events.get(id) ?? 0, unresolved: 0, top: [], ...issues[index] }))
  })

/** Counts accepted errors only, not filtered or refused ones. */
async function eventsByProject(ask: AskOrganization, projects: readonly Project[]): Promise<ReadonlyMap<string | undefined, number>> {
  const ids = projects.map(({ id }) => id)
  const counts = await errorsCounted(ask, { statsPeriod, groupBy: 'project', outcome: 'accepted', project: ids })
  return new Map(counts.map(({ project, events }) => [project, events]))
}

/** Reads unresolved issues of the window: their number, by Sentry's own count if present, and the most frequent. */
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
