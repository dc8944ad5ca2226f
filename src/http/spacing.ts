/**
 * Refusals that cost the server more than they tell: those of one sender go out a while apart, and whoever waits for an answer sends nothing
 * meanwhile. The first ones go out at once, so that nobody waits for a mistake or two.
 */
export type Spacing = {
  /**
   * @param sender who has them refused, such as `limitKeyOf` says
   * @returns resolves when the refusal may go out; undefined when it may at once
   */
  wait(sender: string): Promise<void> | undefined
}

type SpacingOptions = {
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
  readonly apartMs?: number
  /** So many without a wait, after a pause. */
  readonly atOnce?: number
  /** Nobody waits longer, however many they are. */
  readonly waitMaxMs?: number
  /** Of all senders: to wait takes a little memory. */
  readonly waitingMax?: number
  /** Beyond, the sender who was refused the longest ago is forgotten. */
  readonly sendersMax?: number
}

export function createSpacing({
  now,
  sleep,
  apartMs = 20,
  atOnce = 50,
  waitMaxMs = 1_000,
  waitingMax = 4_096,
  sendersMax = 1_000,
}: SpacingOptions): Spacing {
  /** When the last refusal of a sender goes out, or would have gone out; whoever was refused lately comes last. */
  const lastAt = new Map<string, number>()
  let waiting = 0

  async function waitFor(ms: number): Promise<void> {
    waiting++
    try {
      await sleep(ms)
    } finally {
      waiting--
    }
  }

  return {
    wait(sender) {
      const at = now()
      const last = lastAt.get(sender) ?? Number.NEGATIVE_INFINITY
      const goesAt = Math.min(Math.max(last, at - atOnce * apartMs) + apartMs, at + waitMaxMs)
      lastAt.delete(sender)
      lastAt.set(sender, goesAt)
      if (lastAt.size > sendersMax) lastAt.delete(lastAt.keys().next().value as string)
      return goesAt <= at || waiting >= waitingMax ? undefined : waitFor(goesAt - at)
    },
  }
}
