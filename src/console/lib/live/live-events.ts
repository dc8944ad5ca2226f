/** What happens on the server, as it tells it: `/v2/events` of a shop, `/admin/events`. Where it cannot be followed, the page asks again. */
import { effect, signal } from '@preact/signals'
import { createParser } from 'eventsource-parser'
import { useEffect, useRef } from 'preact/hooks'
import { missingShopReports, shop, shopName } from '../session/current-shop.ts'
import { checkVersion } from '../session/program-version.ts'
import { accessToken, session, sessionStatus } from '../session/session.ts'
import { reloadShops } from '../session/staff-shops.ts'
import { streamSlot } from './stream-slot.ts'

export type LiveEvent = { readonly id: string; readonly event: string; readonly data: Readonly<Record<string, unknown>> }
type Listener = (happened: LiveEvent) => void

/** Whether what happens is told at present. */
export const isLive = signal(false)

const listeners = new Set<Listener>()
/** What a page shows comes first; what happens meanwhile is told all the same. */
const startDelayMs = 300
const firstPauseMs = 1_000
const longestPauseMs = 60_000
/** The server says something every 15 seconds, if only that it is there: whoever hears nothing for longer knows nothing, and later asks anew. */
const silenceMs = { doubted: 22_000, ended: 50_000 }

/** So long a page that nobody looks at keeps its stream. */
const hiddenMaxMs = 30_000

/** Where the last stream was, and when (`performance.now()`): it is the same place in another one, of another shop too. */
let position = { id: '', at: Number.NEGATIVE_INFINITY }
/** What is older than that is not told again to a page that has just read: it reads once more instead. */
const positionMaxAgeMs = 60_000

/** From where a stream goes on that begins now, with a page that reads now. */
function resumePosition(): void {
  const from = performance.now() - positionMaxAgeMs
  if (position.at > from) return
  const { lastEventId = '', begunAt = Number.NEGATIVE_INFINITY } = session.peek() ?? {}
  position = { id: begunAt > from ? lastEventId : '', at: begunAt }
}

/** The first of the page goes on from where its session was answered, with the shops as they were. */
let isFirst = true

/** Follows a stream until it is told to stop; begun again where it ended, after a pause that grows. */
function follow(path: string, shopId: string | undefined): () => void {
  let stopped = false
  let pause = firstPauseMs
  const ended = new AbortController()
  let asking: AbortController | undefined
  let resume: (() => void) | undefined

  async function readStream(): Promise<void> {
    asking = new AbortController()
    const mine = asking
    let silence = setTimeout(() => mine.abort(), silenceMs.ended)
    let doubt: ReturnType<typeof setTimeout> | undefined
    const heard = () => {
      isLive.value = true
      clearTimeout(silence)
      clearTimeout(doubt)
      silence = setTimeout(() => mine.abort(), silenceMs.ended)
      doubt = setTimeout(() => (isLive.value = false), silenceMs.doubted)
    }
    try {
      const headers: Record<string, string> = { accept: 'text/event-stream', authorization: `Bearer ${await accessToken()}` }
      if (shopId) headers['x-shop-id'] = shopId
      if (position.id) headers['last-event-id'] = position.id
      const answer = await fetch(path, { headers, credentials: 'omit', signal: mine.signal })
      // Nobody was told of another shop, and a stream ends also when somebody may do something else by now: that is known once it begins, or is refused.
      if (!isFirst && (answer.ok || answer.status === 403 || answer.status === 404)) void reloadShops()
      isFirst = false
      // Refused for good, such as where the operator's screens are: asked again seldom.
      if (answer.status >= 400 && answer.status < 500 && answer.status !== 429 && answer.status !== 401) pause = longestPauseMs
      if (!answer.ok || !answer.body) return
      heard()
      // Where nothing says from where it goes on, something may have happened between what was read and now.
      if (!position.id) dispatch({ id: '', event: 'resync', data: {} })
      const parser = createParser({
        // Also of what is no event: the server says where it is with every sign of life.
        onId(id) {
          pause = firstPauseMs
          if (id && !stopped) position = { id, at: performance.now() }
        },
        onEvent({ id, event, data }) {
          dispatch({ id: id ?? '', event: event ?? 'message', data: objectIn(data) })
        },
      })
      // Not `for await`: Safari's streams cannot.
      const reader = answer.body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader()
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        heard()
        parser.feed(next.value)
      }
    } catch {
      // Away, or aborted: begun again below.
    } finally {
      clearTimeout(silence)
      clearTimeout(doubt)
      isLive.value = false
      // What nobody reads any more is not to stay open.
      mine.abort()
    }
  }

  /** Until the time is over, somebody looks again who did not, or it is to stop. */
  function pauseFor(ms: number): Promise<void> {
    return new Promise((done) => {
      resume = () => {
        clearTimeout(waiting)
        document.removeEventListener('visibilitychange', onLook)
        done()
      }
      const onLook = () => document.visibilityState === 'visible' && resume?.()
      const waiting = setTimeout(resume, ms)
      document.addEventListener('visibilitychange', onLook)
    })
  }

  /** Until somebody looks at the page. */
  async function untilVisible(): Promise<void> {
    while (!stopped && document.visibilityState === 'hidden') await pauseFor(longestPauseMs)
  }

  /** Where nobody looks for long, another tab may have the stream: it is gone on from where it was. */
  let leaving: ReturnType<typeof setTimeout> | undefined
  const onLook = () => {
    clearTimeout(leaving)
    if (document.visibilityState === 'hidden') leaving = setTimeout(() => asking?.abort(), hiddenMaxMs)
  }
  document.addEventListener('visibilitychange', onLook)

  async function run(): Promise<void> {
    resumePosition()
    await pauseFor(startDelayMs)
    while (!stopped && sessionStatus.value === 'in') {
      await untilVisible()
      const release = await streamSlot(ended.signal)
      if (!stopped) await readStream()
      release()
      if (stopped) return
      void checkVersion()
      await pauseFor(pause * (0.5 + Math.random()))
      pause = Math.min(pause * 2, longestPauseMs)
    }
  }
  void run()
  return () => {
    stopped = true
    clearTimeout(leaving)
    document.removeEventListener('visibilitychange', onLook)
    ended.abort()
    asking?.abort()
    resume?.()
  }
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}

const dispatch = (happened: LiveEvent) => {
  if (happened.event === 'resync' || happened.event.startsWith('shop.')) void reloadShops()
  for (const listener of [...listeners]) listener(happened)
}

/** Follows what the page that is shown is about, for as long as somebody is logged in. */
export function watchEvents(): void {
  effect(() => {
    if (missingShopReports.value > 0) void reloadShops()
  })
  let following: { of: string; stop: () => void } | undefined
  effect(() => {
    const isIn = sessionStatus.value === 'in'
    const path = shop.value
      ? '/v2/events'
      : session.value?.roles.includes('SUPER_ADMIN') && shopName.value === undefined
        ? '/admin/events'
        : undefined
    const of = isIn && path ? `${path} ${shop.value?.id ?? ''}` : ''
    if (following?.of === of) return
    following?.stop()
    following = of && path ? { of, stop: follow(path, shop.value?.id) } : undefined
  })
}

const firstLookMs = 2_000
const longestLookMs = 60_000
/** Several things that happen at once are looked at together. */
const gatherMs = 300

/**
 * Reads anew when something of these names happens (`order.*`, `import.finished`), and where that cannot be followed, from time to time,
 * ever more seldom.
 * @param names patterns; `resync` always counts: the server could not tell what was missed
 * @param of whether an event is about what is shown
 * @param everyMs so long after something has happened, with what happens until then, it is read: more for what is dear to read
 */
export function useLiveReload(
  names: readonly string[],
  reload: () => unknown,
  of: (happened: LiveEvent) => boolean = () => true,
  everyMs = gatherMs,
): void {
  const latest = useRef({ reload, of })
  latest.current = { reload, of }
  const key = names.join(' ')
  useEffect(() => {
    const patterns = key.split(' ')
    const concerns = (event: string) =>
      event === 'resync' || patterns.some((name) => (name.endsWith('*') ? event.startsWith(name.slice(0, -1)) : event === name))
    let gathering: ReturnType<typeof setTimeout> | undefined
    let looking: ReturnType<typeof setTimeout> | undefined
    let pause = firstLookMs
    const look = () => {
      looking = setTimeout(look, pause)
      pause = Math.min(pause * 1.5, longestLookMs)
      if (!isLive.value && document.visibilityState === 'visible' && sessionStatus.value === 'in') void latest.current.reload()
    }
    looking = setTimeout(look, pause)
    const listener: Listener = (happened) => {
      if (!concerns(happened.event) || (happened.event !== 'resync' && !latest.current.of(happened))) return
      pause = firstLookMs
      gathering ??= setTimeout(() => {
        gathering = undefined
        void latest.current.reload()
      }, everyMs)
    }
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
      clearTimeout(gathering)
      clearTimeout(looking)
    }
  }, [key, everyMs])
}

/** Reads anew from time to time while somebody looks, for what changes without being told of. @param everyMs others mean that it is begun anew */
export function useVisibleInterval(everyMs: number, reload: () => unknown): void {
  const latest = useRef(reload)
  latest.current = reload
  useEffect(() => {
    const looking = setInterval(() => {
      if (document.visibilityState === 'visible' && sessionStatus.value === 'in') void latest.current()
    }, everyMs)
    return () => clearInterval(looking)
  }, [everyMs])
}

/** Whoever was away for less finds it as they left it. */
const awayMinMs = 10_000
/** Reads anew when somebody comes back to the page: what changes without being told of may have changed meanwhile. */
export function useReloadOnReturn(reload: () => unknown): void {
  const latest = useRef(reload)
  latest.current = reload
  useEffect(() => {
    let leftAt = Number.POSITIVE_INFINITY
    const onLook = () => {
      const isBack = document.visibilityState === 'visible'
      if (isBack && performance.now() - leftAt >= awayMinMs && sessionStatus.value === 'in') void latest.current()
      leftAt = isBack ? Number.POSITIVE_INFINITY : performance.now()
    }
    document.addEventListener('visibilitychange', onLook)
    return () => document.removeEventListener('visibilitychange', onLook)
  }, [])
}

/** Calls back with each event of these names, for pages that show a progress. */
export function useEvents(names: readonly string[], listener: Listener): void {
  const latest = useRef(listener)
  latest.current = listener
  const key = names.join(' ')
  useEffect(() => {
    const patterns = key.split(' ')
    const mine: Listener = (happened) => {
      if (patterns.some((name) => (name.endsWith('*') ? happened.event.startsWith(name.slice(0, -1)) : happened.event === name)))
        latest.current(happened)
    }
    listeners.add(mine)
    return () => void listeners.delete(mine)
  }, [key])
}
