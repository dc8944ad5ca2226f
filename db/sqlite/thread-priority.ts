import { constants, setPriority } from 'node:os'

/** Of this thread alone, on Linux: whoever is served has the processor first. Where that is forbidden, the thread is at work all the same. */
export function stepBack(set: (priority: number) => void = setPriority): void {
  try {
    if (process.platform === 'linux') set(constants.priority.PRIORITY_LOW)
  } catch {
    // It is as urgent as everybody else.
  }
}
