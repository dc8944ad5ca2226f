import { siteOf, siteTimes } from '../lib/networks.ts'

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
  /** Of whom a sender is one of many, if of anybody: all of these together are spaced as `groupTimes` senders are. */
  readonly groupOf?: (sender: string) => string | undefined
  readonly groupTimes?: number
}

export function createSpacing({
  now,
  sleep,
  apartMs = 20,
  atOnce = 50,
  waitMaxMs = 1_000,
  waitingMax = 4_096,
  sendersMax = 10_000,
  groupOf = siteOf,
  groupTimes = siteTimes,
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

  /** When a refusal goes out that is one more of a sender's. */
  function nextOf(sender: string, at: number, pauseMs: number): number {
    const last = lastAt.get(sender) ?? Number.NEGATIVE_INFINITY
    const goesAt = Math.min(Math.max(last, at - atOnce * apartMs) + pauseMs, at + waitMaxMs)
    lastAt.delete(sender)
    lastAt.set(sender, goesAt)
    if (lastAt.size > sendersMax) lastAt.delete(lastAt.keys().next().value as string)
    return goesAt
  }

  return {
    wait(sender) {
      const at = now()
      const alone = nextOf(sender, at, apartMs)
      const group = groupOf(sender)
      // Asked for last, so that whoever changes their address within it does not push it out.
      const goesAt = group === undefined ? alone : Math.max(alone, nextOf(group, at, apartMs / groupTimes))
      return goesAt <= at || waiting >= waitingMax ? undefined : waitFor(goesAt - at)
    },
  }
}
