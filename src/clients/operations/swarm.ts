/** Services of a Docker Swarm, by the API of a manager's daemon on its socket. */
import type { Provider, ServiceState, ServiceStatus } from '../../core/operations.ts'
import { createUnixFetch } from '../unix-fetch.ts'
import { type Calling, countAt, createAsk, listAt, plainAt, stateByCounts, textAt, valueAt } from './calls.ts'

type Task = { readonly serviceId: string | undefined; readonly state: string }

/** On their way to running, of those that are to run. */
const beginning = new Set(['new', 'allocated', 'pending', 'assigned', 'accepted', 'preparing', 'ready', 'starting'])
const stateOfUpdate: Readonly<Record<string, ServiceState>> = {
  updating: 'rolling',
  rollback_started: 'rolling',
  paused: 'degraded',
  rollback_paused: 'degraded',
}
/** Without a version, the daemon answers by its own: it refuses those of other years. */
const base = 'http://docker'

/** @param socket path of a manager's `docker.sock` */
export function createSwarm({ socket }: { socket: string }, calling: Omit<Calling, 'safeFetch'>): Provider<ServiceStatus> {
  const safeFetch = createUnixFetch(socket)
  return {
    name: 'swarm',
    source: `swarm ${socket}`,
    async ask() {
      const ask = createAsk({ ...calling, safeFetch })
      const [services, tasks] = await Promise.all([
        ask(`${base}/services?status=true`),
        ask(`${base}/tasks?${new URLSearchParams({ filters: JSON.stringify({ 'desired-state': ['running'] }) })}`),
      ])
      const known = listAt(tasks.json).map((task) => ({
        serviceId: textAt(task, 'ServiceID'),
        state: textAt(task, 'Status', 'State') ?? '',
      }))
      return listAt(services.json).map((service) => statusOf(service, known))
    },
  }
}

function statusOf(service: unknown, tasks: readonly Task[]): ServiceStatus {
  const own = tasks.filter(({ serviceId }) => serviceId === textAt(service, 'ID'))
  const isReplicated = valueAt(service, 'Spec', 'Mode', 'Replicated') !== undefined
  const replicas = isReplicated ? countAt(service, 'Spec', 'Mode', 'Replicated', 'Replicas') : undefined
  // Of a global service or a job only the daemon knows how many there are to be.
  const desired = replicas ?? countAt(service, 'ServiceStatus', 'DesiredTasks') ?? own.length
  const running = countAt(service, 'ServiceStatus', 'RunningTasks') ?? own.filter(({ state }) => state === 'running').length
  return {
    service: plainAt(service, 'Spec', 'Name'),
    desired,
    running,
    pending: own.filter(({ state }) => beginning.has(state)).length,
    revision: textAt(service, 'Spec', 'TaskTemplate', 'ContainerSpec', 'Image')?.slice(0, 200) ?? 'unknown',
    state: stateOfUpdate[textAt(service, 'UpdateStatus', 'State') ?? ''] ?? stateByCounts(desired, running),
  }
}
