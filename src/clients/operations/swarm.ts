/** Reads services of a Docker Swarm from a manager's socket. */
import type { Provider, ServiceState, ServiceStatus } from '../../core/operations.ts'
import { createUnixFetch } from '../unix-fetch.ts'
import { countAt, createAsk, displayTextAt, listAt, type ProviderPort, stateByCounts, textAt, valueAt } from './calls.ts'

type Task = { readonly serviceId: string | undefined; readonly state: string }

/** States of tasks that are starting. */
const startingStates = new Set(['new', 'allocated', 'pending', 'assigned', 'accepted', 'preparing', 'ready', 'starting'])
const stateOfUpdate: Readonly<Record<string, ServiceState>> = {
  updating: 'rolling',
  rollback_started: 'rolling',
  paused: 'degraded',
  rollback_paused: 'degraded',
}
/** Without a version the daemon uses its own; it refuses old and new ones. */
const base = 'http://docker'

/**
 * Creates the provider for Docker Swarm.
 * @param socket path of a manager's `docker.sock`
 */
export function createSwarm({ socket }: { socket: string }, calling: Omit<ProviderPort, 'safeFetch'>): Provider<ServiceStatus> {
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
      const taskStates = listAt(tasks.json).map((task) => ({
        serviceId: textAt(task, 'ServiceID'),
        state: textAt(task, 'Status', 'State') ?? '',
      }))
      return listAt(services.json).map((service) => statusOf(service, taskStates))
    },
  }
}

function statusOf(service: unknown, tasks: readonly Task[]): ServiceStatus {
  const ownTasks = tasks.filter(({ serviceId }) => serviceId === textAt(service, 'ID'))
  const isReplicated = valueAt(service, 'Spec', 'Mode', 'Replicated') !== undefined
  const replicas = isReplicated ? countAt(service, 'Spec', 'Mode', 'Replicated', 'Replicas') : undefined
  // For global services and jobs only the daemon knows the desired number.
  const desired = replicas ?? countAt(service, 'ServiceStatus', 'DesiredTasks') ?? ownTasks.length
  const running = countAt(service, 'ServiceStatus', 'RunningTasks') ?? ownTasks.filter(({ state }) => state === 'running').length
  return {
    service: displayTextAt(service, 'Spec', 'Name'),
    desired,
    running,
    pending: ownTasks.filter(({ state }) => startingStates.has(state)).length,
    revision: textAt(service, 'Spec', 'TaskTemplate', 'ContainerSpec', 'Image')?.slice(0, 200) ?? 'unknown',
    state: stateOfUpdate[textAt(service, 'UpdateStatus', 'State') ?? ''] ?? stateByCounts(desired, running),
  }
}
