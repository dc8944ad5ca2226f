/** The errors of the projects of an organisation at GlitchTip, which speaks most of Sentry's API. */
import { type ErrorGroup, type ErrorProject, errorWindowHours, type Provider } from '../../core/operations.ts'
import type { Calling } from './calls.ts'
import { type AskOrganization, type ErrorsAccount, errorsBy, errorsCounted, groupsOf, mostFrequent, type Project } from './sentry-api.ts'

const windowMs = errorWindowHours * 60 * 60_000

/** @param account whose token may read the organisation, its projects and their events */
export const createGlitchtip = (account: ErrorsAccount, calling: Calling): Provider<ErrorProject> =>
  errorsBy('glitchtip', account, calling, (ask, projects) => {
    const now = calling.now()
    const [start, end] = [new Date(now - windowMs).toISOString(), new Date(now).toISOString()]
    return Promise.all(
      projects.map(async (project) => {
        const [events, groups] = await Promise.all([eventsIn(ask, project, start, end), seenSince(ask, project, start)])
        return { project: project.slug, events, unresolved: groups.length, top: mostFrequent(groups) }
      }),
    )
  })

/** Its statistics know no groups, and want both ends; it counts by whole hours. */
async function eventsIn(ask: AskOrganization, { id }: Project, start: string, end: string): Promise<number> {
  const counted = await errorsCounted(ask, { start, end, project: id })
  return counted.reduce((sum, { events }) => sum + events, 0)
}

/** Its lists cannot be limited to those that were seen since: they are read from the last one that was. `count` is of all time. */
async function seenSince(ask: AskOrganization, project: Project, start: string): Promise<ErrorGroup[]> {
  const seen: ErrorGroup[] = []
  for await (const { groups } of groupsOf(ask, project, { sort: '-last_seen' })) {
    seen.push(...groups.filter(({ lastSeen }) => lastSeen >= start))
    if (groups.some(({ lastSeen }) => lastSeen < start)) break
  }
  return seen
}
