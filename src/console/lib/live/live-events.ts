/** Follows the server's events: `/v2/events` of a shop or `/admin/events`. Without a stream, pages poll. */
import { effect, signal } from '@preact/signals'
import { createParser } from 'eventsource-parser'
import { useEffect, useRef } from 'preact/hooks'
import { missingShopReports, shop, shopName } from '../session/current-shop.ts'
import { checkVersion } from '../session/program-version.ts'
import { accessToken, session, sessionStatus } from '../session/session.ts'
import { reloadShops } from '../session/staff-shops.ts'
import { acquireStreamSlot } from './stream-slot.ts'

type LiveEvent = { readonly id: string; readonly event: string; readonly data: Readonly<Record<string, unknown>> }
type Listener = (liveEvent: LiveEvent) => void

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
function followStream(path: string, shopId: string | undefined): () => void {
  let isStopped = false
  let pause = firstPauseMs
  const reconnect = new AbortController()
  let currentStream: AbortController | undefined
  let resume: (() => void) | undefined

  async function readStream(): Promise<void> {
    const controller = new AbortController()
    currentStream = controller
    let reconnectTimer = setTimeout(() => controller.abort(), silenceMs.ended)
    let offlineTimer: ReturnType<typeof setTimeout> | undefined
    const recordData = () => {
      isLive.value = true
      clearTimeout(reconnectTimer)
      clearTimeout(offlineTimer)
      reconnectTimer = setTimeout(() => controller.abort(), silenceMs.ended)
      offlineTimer = setTimeout(() => (isLive.value = false), silenceMs.doubted)
    }
    try {
      const headers: Record<string, string> = { accept: 'text/event-stream', authorization: `Bearer ${await accessToken()}` }
      if (shopId) headers['x-shop-id'] = shopId
      if (position.id) headers['last-event-id'] = position.id
      const response = await fetch(path, { headers, credentials: 'omit', signal: controller.signal })
      // Events of other shops are not sent, and a stream also ends when a role changes, so the shops are read again.
      if (!isFirst && (response.ok || response.status === 403 || response.status === 404)) void reloadShops()
      isFirst = false
      // A permanent refusal, such as for a missing network: retried rarely.
      if (response.status >= 400 && response.status < 500 && response.status !== 429 && response.status !== 401) pause = longestPauseMs
      if (!response.ok || !response.body) return
      recordData()
      // Without a position, events can be missing between the page's read and now.
      if (!position.id) dispatch({ id: '', event: 'resync', data: {} })
      const parser = createParser({
        // Heartbeats carry an id as well.
        onId(id) {
          pause = firstPauseMs
          if (id && !isStopped) position = { id, at: performance.now() }
        },
        onEvent({ id, event, data }) {
          dispatch({ id: id ?? '', event: event ?? 'message', data: parseObject(data) })
        },
      })
      // Safari's streams do not support `for await`.
      const reader = response.body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader()
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        recordData()
        parser.feed(next.value)
      }
    } catch {
      // The network failed or the stream was aborted: it reconnects below.
    } finally {
      clearTimeout(reconnectTimer)
      clearTimeout(offlineTimer)
      isLive.value = false
      // Closes the connection, whose data nobody reads.
      controller.abort()
    }
  }

  /** Waits until the time is over, the page becomes visible, or the stream stops. */
  function wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      resume = () => {
        clearTimeout(timer)
        document.removeEventListener('visibilitychange', onVisibilityChange)
        resolve()
      }
      const onVisibilityChange = () => document.visibilityState === 'visible' && resume?.()
      const timer = setTimeout(resume, ms)
      document.addEventListener('visibilitychange', onVisibilityChange)
    })
  }

  /** Waits until the page is visible. */
  async function untilVisible(): Promise<void> {
    while (!isStopped && document.visibilityState === 'hidden') await wait(longestPauseMs)
  }

  /** Releases the stream of a hidden page to other tabs; it resumes at its position. */
  let hiddenTimer: ReturnType<typeof setTimeout> | undefined
  const onVisibilityChange = () => {
    clearTimeout(hiddenTimer)
    if (document.visibilityState === 'hidden') hiddenTimer = setTimeout(() => currentStream?.abort(), hiddenMaxMs)
  }
  document.addEventListener('visibilitychange', onVisibilityChange)

  async function run(): Promise<void> {
    resumePosition()
    await wait(startDelayMs)
    while (!isStopped && sessionStatus.value === 'in') {
      await untilVisible()
      const release = await acquireStreamSlot(reconnect.signal)
      if (!isStopped) await readStream()
      release()
      if (isStopped) return
      void checkVersion()
      await wait(pause * (0.5 + Math.random()))
      pause = Math.min(pause * 2, longestPauseMs)
    }
  }
  void run()
  return () => {
    isStopped = true
    clearTimeout(hiddenTimer)
    document.removeEventListener('visibilitychange', onVisibilityChange)
    reconnect.abort()
    currentStream?.abort()
    resume?.()
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}

const dispatch = (liveEvent: LiveEvent) => {
  if (liveEvent.event === 'resync' || liveEvent.event.startsWith('shop.')) void reloadShops()
  for (const listener of [...listeners]) listener(liveEvent)
}

/** Follows the events of the shown shop or the instance while somebody is signed in. */
export function watchEvents(): void {
  effect(() => {
    if (missingShopReports.value > 0) void reloadShops()
  })
  let following: { streamKey: string; stop: () => void } | undefined
  effect(() => {
    const isIn = sessionStatus.value === 'in'
    const path = shop.value
      ? '/v2/events'
      : session.value?.roles.includes('SUPER_ADMIN') && shopName.value === undefined
        ? '/admin/events'
        : undefined
    const streamKey = isIn && path ? `${path} ${shop.value?.id ?? ''}` : ''
    if (following?.streamKey === streamKey) return
    following?.stop()
    following = streamKey && path ? { streamKey, stop: followStream(path, shop.value?.id) } : undefined
  })
}

/** Returns whether an event matches one of the patterns, such as `order.*`. */
const matchesPattern = (event: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => (pattern.endsWith('*') ? event.startsWith(pattern.slice(0, -1)) : event === pattern))

const firstPollMs = 2_000
const longestPollMs = 60_000
/** Events within this time cause one reload. */
const defaultCollectMs = 300

/**
 * Reloads on matching events, and polls at growing intervals without a stream.
 * @param names patterns such as `order.*`; `resync` always matches, because events may be missing
 * @param isMatch filters events by their data
 * @param collectMs delay after an event that collects further ones; longer for expensive reads
 */
export function useLiveReload(
  names: readonly string[],
  reload: () => unknown,
  isMatch: (liveEvent: LiveEvent) => boolean = () => true,
  collectMs = defaultCollectMs,
): void {
  const latest = useRef({ reload, isMatch })
  latest.current = { reload, isMatch }
  const key = names.join(' ')
  useEffect(() => {
    const patterns = key.split(' ')
    let reloadTimer: ReturnType<typeof setTimeout> | undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    let pause = firstPollMs
    const poll = () => {
      timer = setTimeout(poll, pause)
      pause = Math.min(pause * 1.5, longestPollMs)
      if (!isLive.value && document.visibilityState === 'visible' && sessionStatus.value === 'in') void latest.current.reload()
    }
    timer = setTimeout(poll, pause)
    const listener: Listener = (liveEvent) => {
      const { event } = liveEvent
      if (event !== 'resync' && !(matchesPattern(event, patterns) && latest.current.isMatch(liveEvent))) return
      pause = firstPollMs
      reloadTimer ??= setTimeout(() => {
        reloadTimer = undefined
        void latest.current.reload()
      }, collectMs)
    }
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
      clearTimeout(reloadTimer)
      clearTimeout(timer)
    }
  }, [key, collectMs])
}

/** Reloads at an interval while the page is visible, for data without events. */
export function useVisibleInterval(intervalMs: number, reload: () => unknown): void {
  const latest = useRef(reload)
  latest.current = reload
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible' && sessionStatus.value === 'in') void latest.current()
    }, intervalMs)
    return () => clearInterval(timer)
  }, [intervalMs])
}

/** A shorter absence does not reload. */
const awayMinMs = 10_000
/** Reloads when the person returns to the page, for data without events. */
export function useReloadOnReturn(reload: () => unknown): void {
  const latest = useRef(reload)
  latest.current = reload
  useEffect(() => {
    let leftAt = Number.POSITIVE_INFINITY
    const onVisibilityChange = () => {
      const isBack = document.visibilityState === 'visible'
      if (isBack && performance.now() - leftAt >= awayMinMs && sessionStatus.value === 'in') void latest.current()
      leftAt = isBack ? Number.POSITIVE_INFINITY : performance.now()
    }
    document.addEventListener('visibilitychange', onVisibilityChange)
    return () => document.removeEventListener('visibilitychange', onVisibilityChange)
  }, [])
}

/** Calls a listener with each matching event, for progress displays. */
export function useEvents(names: readonly string[], listener: Listener): void {
  const latest = useRef(listener)
  latest.current = listener
  const key = names.join(' ')
  useEffect(() => {
    const patterns = key.split(' ')
    const forward: Listener = (liveEvent) => {
      if (matchesPattern(liveEvent.event, patterns)) latest.current(liveEvent)
    }
    listeners.add(forward)
    return () => void listeners.delete(forward)
  }, [key])
}
