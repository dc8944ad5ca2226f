/** Follows the server's events: `/v2/events` of a shop or `/admin/events`. Without a stream, pages poll. */
import { effect, signal } from '@preact/signals'
import { createParser } from 'eventsource-parser'
import { useEffect, useRef } from 'preact/hooks'
import { missingShopReports, shop, shopName } from '../session/current-shop.ts'
import { checkVersion } from '../session/program-version.ts'
import { accessToken, session, sessionStatus } from '../session/session.ts'
import { reloadShops } from '../session/staff-shops.ts'
import { streamSlot } from './stream-slot.ts'

type LiveEvent = { readonly id: string; readonly event: string; readonly data: Readonly<Record<string, unknown>> }
type Listener = (happened: LiveEvent) => void

/** Whether events arrive at present. */
export const isLive = signal(false)

const listeners = new Set<Listener>()
/** Delay before the stream starts, so that the page's own reads come first. Events are not lost meanwhile. */
const startDelayMs = 300
const firstPauseMs = 1_000
const longestPauseMs = 60_000
/**
 * The server sends something every 15 seconds. After the first limit pages poll, after the second the stream
 * reconnects.
 */
const silenceMs = { doubted: 22_000, ended: 50_000 }

/** How long a hidden page keeps its stream. */
const hiddenMaxMs = 30_000

/** Position of the last stream and its time (`performance.now()`). Streams of all shops share positions. */
let position = { id: '', at: Number.NEGATIVE_INFINITY }
/** An older position is not resumed by a page that has just read its data: the page reads once more instead. */
const positionMaxAgeMs = 60_000

/** Sets the position at which a new stream resumes. */
function resumePosition(): void {
  const from = performance.now() - positionMaxAgeMs
  if (position.at > from) return
  const { lastEventId = '', begunAt = Number.NEGATIVE_INFINITY } = session.peek() ?? {}
  position = { id: begunAt > from ? lastEventId : '', at: begunAt }
}

/** The first stream resumes at the session's position, with the session's shops. */
let isFirst = true

/** Follows a stream until stopped; reconnects after growing pauses. */
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
      // Events of other shops are not sent, and a stream also ends when a role changes, so the shops are read again.
      if (!isFirst && (answer.ok || answer.status === 403 || answer.status === 404)) void reloadShops()
      isFirst = false
      // A permanent refusal, such as for a missing network: retried rarely.
      if (answer.status >= 400 && answer.status < 500 && answer.status !== 429 && answer.status !== 401) pause = longestPauseMs
      if (!answer.ok || !answer.body) return
      heard()
      // Without a position, events can be missing between the page's read and now.
      if (!position.id) dispatch({ id: '', event: 'resync', data: {} })
      const parser = createParser({
        // Heartbeats carry an id as well.
        onId(id) {
          pause = firstPauseMs
          if (id && !stopped) position = { id, at: performance.now() }
        },
        onEvent({ id, event, data }) {
          dispatch({ id: id ?? '', event: event ?? 'message', data: objectIn(data) })
        },
      })
      // Safari's streams do not support `for await`.
      const reader = answer.body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader()
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        heard()
        parser.feed(next.value)
      }
    } catch {
      // The network failed or the stream was aborted: it reconnects below.
    } finally {
      clearTimeout(silence)
      clearTimeout(doubt)
      isLive.value = false
      // Closes the connection, whose data nobody reads.
      mine.abort()
    }
  }

  /** Waits until the time is over, the page becomes visible, or the stream stops. */
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

  /** Waits until the page is visible. */
  async function untilVisible(): Promise<void> {
    while (!stopped && document.visibilityState === 'hidden') await pauseFor(longestPauseMs)
  }

  /** Releases the stream of a hidden page to other tabs; it resumes at its position. */
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

/** Follows the events of the shown shop or the instance while somebody is signed in. */
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
/** Events within this time cause one reload. */
const gatherMs = 300

/**
 * Reloads on matching events, and polls at growing intervals without a stream.
 * @param names patterns such as `order.*`; `resync` always matches, because events may be missing
 * @param of filters events by their data
 * @param everyMs delay after an event that collects further ones; longer for expensive reads
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

/** Reloads at an interval while the page is visible, for data without events. */
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

/** A shorter absence does not reload. */
const awayMinMs = 10_000
/** Reloads when the person returns to the page, for data without events. */
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

/** Calls a listener with each matching event, for progress displays. */
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
