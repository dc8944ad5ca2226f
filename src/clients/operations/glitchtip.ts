/** Reads the errors of an organisation's projects from GlitchTip, which supports most of Sentry's API. */
import { type ErrorGroup, type ErrorProject, errorWindowHours, type Provider } from '../../core/operations.ts'
import type { ProviderPort } from './calls.ts'
import { type AskOrganization, type ErrorsAccount, errorsBy, errorsCounted, groupsOf, mostFrequent, type Project } from './sentry-api.ts'

const windowMs = errorWindowHours * 60 * 60_000

/**
 * Creates the provider for GlitchTip.
 * @param account its token needs read access to the organisation, its projects and their events
 */
export const createGlitchtip = (account: ErrorsAccount, calling: ProviderPort): Provider<ErrorProject> =>
  errorsBy('glitchtip', account, calling, (ask, projects) => {
    const now = calling.now()
    const [start, end] = [new Date(now - windowMs).toISOString(), new Date(now).toISOString()]
    return Promise.all(
      projects.map(async (project) => {
        const [events, groups] = await Promise.all([eventsIn(ask, project, start, end), groupsSeenSince(ask, project, start)])
        return { project: project.slug, events, unresolved: groups.length, top: mostFrequent(groups) }
      }),
    )
  })

/** GlitchTip's statistics have no groups, need both ends and count whole hours. */
async function eventsIn(ask: AskOrganization, { id }: Project, start: string, end: string): Promise<number> {
  const counts = await errorsCounted(ask, { start, end, project: id })
  return counts.reduce((sum, { events }) => sum + events, 0)
}

/** Lists cannot be filtered by time, so they are read up to the first older group. `count` is of all time. */
async function groupsSeenSince(ask: AskOrganization, project: Project, start: string): Promise<ErrorGroup[]> {
  const recent: ErrorGroup[] = []
  for await (const { groups } of groupsOf(ask, project, { sort: '-last_seen' })) {
    recent.push(...groups.filter(({ lastSeen }) => lastSeen >= start))
    if (groups.some(({ lastSeen }) => lastSeen < start)) break
  }
  return recent
}
