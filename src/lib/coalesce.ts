/**
 * Coalesces calls: one run at a time. A call during a run starts one more run afterwards and waits for both.
 * @returns `request` rejects like the run; the next call starts a new run
 */
export function coalesceRuns(run: () => Promise<void>): { request(): Promise<void>; inFlight(): Promise<void> | undefined } {
  let running: Promise<void> | undefined
  let isRequested = false
  async function runWhileRequested(): Promise<void> {
    try {
      while (isRequested) {
        isRequested = false
        await run()
      }
    } finally {
      // In the same turn as the last check of `isRequested`, so that no request is lost.
      running = undefined
    }
  }
  return {
    request() {
      isRequested = true
      running ??= runWhileRequested()
      return running
    },
    inFlight: () => running,
  }
}
