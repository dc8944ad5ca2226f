/** The program's version: after an upgrade the page begins again, unless somebody is in the middle of something. */
import { signal } from '@preact/signals'
import { hasWriteInFlight } from '../api/api.ts'
import { readStored, writeStored } from './browser-storage.ts'
import { sessionStatus } from './session.ts'
import { isDirty } from './unsaved-changes.ts'

/** True once the server has another page than this one, and somebody has to say when. */
export const isOutdated = signal(false)

let etag: string | undefined

const pageMaxMs = 10_000
/** What the server's page is called now; undefined where it does not answer. */
async function readPageTag(): Promise<string | undefined> {
  const asking: RequestInit = { method: 'HEAD', cache: 'no-store', credentials: 'omit', signal: AbortSignal.timeout(pageMaxMs) }
  const answer = await fetch('/console', asking).catch(() => undefined)
  return answer?.ok ? (answer.headers.get('etag') ?? undefined) : undefined
}

/** Whether somebody types at the login, whose fields are nobody's draft. */
const isAtLogin = () => sessionStatus.value !== 'in' && [...document.querySelectorAll('input')].some(({ value }) => value !== '')

/** Looks whether the server has another page by now. */
export async function checkVersion(): Promise<void> {
  const now = await readPageTag()
  if (now === undefined) return
  etag ??= now
  if (etag === now) return
  if (isDirty() || hasWriteInFlight() || isAtLogin()) isOutdated.value = true
  else location.reload()
}

const reloadedAt = 'souk-console-reloaded'
/**
 * A part of the page could not be loaded. Where the server answers, it is of the program before, and the page begins again: once a minute at
 * most, lest it goes round. Where the server is away, whatever is shown stays; and so it does while somebody may be typing at the login.
 */
export async function reloadForMissing(): Promise<void> {
  const last = Number(readStored('sessionStorage', reloadedAt))
  if ((Date.now() - last < 60_000 && last <= Date.now()) || (await readPageTag()) === undefined || sessionStatus.value !== 'in') return
  // Where it cannot be kept that it has begun again, it could go round.
  if (writeStored('sessionStorage', reloadedAt, String(Date.now()))) location.reload()
}
