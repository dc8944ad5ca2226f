/**
 * Has `run` done once at a time: who asks while it is under way has it done once more behind that, and waits for both.
 * @returns what asks for it. It rejects as a run does, and the next asks anew
 */
export function atOnceOrAgain(run: () => Promise<void>): { ask(): Promise<void>; underWay(): Promise<void> | undefined } {
  let running: Promise<void> | undefined
  let isAsked = false
  async function whileAsked(): Promise<void> {
    try {
      while (isAsked) {
        isAsked = false
        await run()
      }
    } finally {
      // In the same turn as the last look at isAsked: nobody's wish falls between the two.
      running = undefined
    }
  }
  return {
    ask() {
      isAsked = true
      running ??= whileAsked()
      return running
    },
    underWay: () => running,
  }
}
