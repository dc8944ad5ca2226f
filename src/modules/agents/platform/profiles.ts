/** Profiles of platforms: fetched from addresses that strangers choose, and cached. */
import { createCache } from '../../../core/cache.ts'
import { createRateLimit } from '../../../core/limits/rate-limit.ts'
import { OutgoingError, type SafeFetch } from '../../../core/outgoing.ts'
import { dayMs, hourMs, minuteMs } from '../../../lib/day.ts'
import { literalAddressOf } from '../../../lib/networks.ts'
import { UcpError } from '../../../lib/ucp/errors.ts'
import { type PlatformProfile, parseProfile } from '../../../lib/ucp/negotiation.ts'

const limits = { connectTimeoutMs: 3_000, timeoutMs: 5_000, bytesMax: 128 * 1024 } as const
const entriesMax = 1_000
const freshMs = { least: minuteMs, most: dayMs } as const
const pauseMs = { first: minuteMs, longest: hourMs } as const
/** Maximum fetches of profiles that are not cached, for all callers together. */
const unknownPerMinute = 30

type Entry = {
  /** Undefined: it was never read. */
  readonly profile?: PlatformProfile
  readonly fetchedAt: number
  /** When the profile is to be fetched again. */
  readonly until: number
  /** Why the last fetch failed, and until when none follows. */
  readonly failure?: { readonly error: UcpError; readonly pause: number; readonly until: number }
}

/** @param monotonic monotonic milliseconds */
export function createProfileReader(safeFetch: SafeFetch, monotonic: () => number) {
  const entries = createCache<Entry>({ version: () => 0, entriesMax })
  const inFlight = new Map<string, Promise<PlatformProfile>>()
  const unknownProfiles = createRateLimit({ name: 'agent-profiles', most: unknownPerMinute, now: monotonic })

  /** Counts a fetch of a profile that is not cached. @throws UcpError `unavailable` above the limit */
  function takeFetch(): void {
    const retryAfterSeconds = unknownProfiles.wait('')
    if (retryAfterSeconds !== undefined)
      throw new UcpError('unavailable', 'Too many new profiles are being fetched. Try again later.', { retryAfterSeconds })
    void unknownProfiles.take('')
  }

  async function fetchProfile(url: string, previous: Entry | undefined): Promise<PlatformProfile> {
    const fetchedAt = monotonic()
    try {
      const { status, headers, bytes } = await safeFetch(url, { ...limits, headers: { accept: 'application/json' } })
      if (status !== 200) throw new UcpError('profile_unreachable', 'The profile did not answer with status 200.')
      const profile = parseProfile(documentOf(bytes), new URL(url))
      entries.set(url, { profile, fetchedAt, until: fetchedAt + freshMsOf(headers.get('cache-control')) })
      return profile
    } catch (thrown) {
      const error = thrown instanceof OutgoingError ? refusalOf(thrown, new URL(url)) : thrown
      if (!(error instanceof UcpError)) throw error
      const pause = previous?.failure ? Math.min(pauseMs.longest, previous.failure.pause * 2) : pauseMs.first
      entries.set(url, { fetchedAt, until: fetchedAt, ...previous, failure: { error, pause, until: monotonic() + pause } })
      throw error
    }
  }

  return {
    /**
     * Returns the profile at a URL.
     * @param isStale whether the cached one lacks a key; it is fetched again once a minute
     * @throws UcpError
     */
    async read(url: string, isStale = false): Promise<PlatformProfile> {
      const now = monotonic()
      const entry = entries.get(url)
      // Inserts it anew, so that profiles in use stay.
      if (entry) entries.set(url, entry)
      const fresh = entry && now < entry.until ? entry.profile : undefined
      if (fresh && !(isStale && entry && entry.fetchedAt <= now - minuteMs)) return fresh
      if (entry?.failure && now < entry.failure.until) {
        if (fresh) return fresh
        throw entry.failure.error
      }
      const pending = inFlight.get(url)
      if (pending) return pending
      if (!entry?.profile) takeFetch()
      const fetching = fetchProfile(url, entry).finally(() => inFlight.delete(url))
      inFlight.set(url, fetching)
      return fresh ? fetching.catch(() => fresh) : fetching
    },
  }
}

/** Returns `invalid_profile_url` where the URL alone shows the fault, without a look-up of its name. */
function refusalOf({ kind }: OutgoingError, url: URL): UcpError {
  const isHttp = url.protocol === 'http:'
  const isLiteral = literalAddressOf(url) !== undefined
  // Http is allowed only in the networks of the settings. A name that does not resolve is in none of them.
  const isInvalid = (kind === 'address not allowed' && (isHttp || isLiteral)) || (kind === 'connection failed' && isHttp && !isLiteral)
  return kind === 'port not allowed' || isInvalid
    ? new UcpError('invalid_profile_url', 'The profile must have an https URL with a public address and a standard web port.')
    : new UcpError('profile_unreachable', 'The profile could not be fetched from a public address.')
}

function documentOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new UcpError('profile_malformed', 'The profile must be JSON.')
  }
}

/** Returns for how long a profile is fresh. */
function freshMsOf(cacheControl: string | null): number {
  const seconds = /(?:^|,)\s*max-age\s*=\s*"?(\d{1,9})/i.exec(cacheControl ?? '')?.[1]
  return Math.min(freshMs.most, Math.max(freshMs.least, Number(seconds ?? 0) * 1_000))
}
