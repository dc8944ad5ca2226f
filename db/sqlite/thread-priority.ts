import { constants, setPriority } from 'node:os'

/** Lowers the priority of this thread on Linux. Ignores missing permissions. */
export function lowerThreadPriority(set: (priority: number) => void = setPriority): void {
  try {
    if (process.platform === 'linux') set(constants.priority.PRIORITY_LOW)
  } catch {
    // The thread keeps its priority.
  }
}
