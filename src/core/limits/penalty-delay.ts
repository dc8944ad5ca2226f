/**
 * Prevents: floods of large bodies that are read in vain (bench abuse, "30,000 numbers", "e-mail addresses of …").
 */
import { siteOf, siteTimes } from '../../lib/networks.ts'

/**
 * Delays repeated error responses to one client, so that a flood of bad requests cannot use the CPU. The first errors
 * are not delayed.
 */
type PenaltyDelay = {
  /**
   * @param sender a key of `limitKeyOf`
   * @returns resolves when the response may be sent; undefined if it may be sent at once
   */
  wait(sender: string): Promise<void> | undefined
}

type PenaltyDelayOptions = {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
  readonly apartMs?: number
  /** Errors without a delay, after a pause. */
  readonly atOnce?: number
  /** Maximum delay. */
  readonly waitMaxMs?: number
  /** Maximum number of delayed responses, because each uses memory. */
  readonly waitingMax?: number
  /** Number of remembered senders. Beyond it, the least recent one is forgotten. */
  readonly sendersMax?: number
}

/** Creates the delays of one process, with no sender known yet. */
export function createPenaltyDelay({
  now,
  sleep,
  apartMs = 20,
  atOnce = 50,
  waitMaxMs = 1_000,
  waitingMax = 4_096,
  sendersMax = 10_000,
}: PenaltyDelayOptions): PenaltyDelay {
  /** When the last error of a sender is sent. Most recent senders come last. */
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

  /** Returns when the next error of a sender is sent. */
  function scheduleNext(sender: string, at: number, pauseMs: number): number {
    const last = lastAt.get(sender) ?? Number.NEGATIVE_INFINITY
    const sendAt = Math.min(Math.max(last, at - atOnce * apartMs) + pauseMs, at + waitMaxMs)
    lastAt.delete(sender)
    lastAt.set(sender, sendAt)
    if (lastAt.size > sendersMax) lastAt.delete(lastAt.keys().next().value as string)
    return sendAt
  }

  return {
    wait(sender) {
      const at = now()
      const alone = scheduleNext(sender, at, apartMs)
      // Updated last, so that its addresses do not evict it.
      const site = siteOf(sender)
      const sendAt = site === undefined ? alone : Math.max(alone, scheduleNext(site, at, apartMs / siteTimes))
      return sendAt <= at || waiting >= waitingMax ? undefined : waitFor(sendAt - at)
    },
  }
}
