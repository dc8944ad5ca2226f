/** Reloads the page after an upgrade, unless the person is busy. */
import { signal } from '@preact/signals'
import { hasWriteInFlight } from '../api/api.ts'
import { readStored, writeStored } from './browser-storage.ts'
import { sessionStatus } from './session.ts'
import { isDirty } from './unsaved-changes.ts'

/** True if the server has a newer page and the person must choose when to reload. */
export const isOutdated = signal(false)

let loadedEtag: string | undefined

const pageTimeoutMs = 10_000
/** Returns the entity tag of the server's page; undefined if it does not answer. */
async function readPageTag(): Promise<string | undefined> {
  const options: RequestInit = { method: 'HEAD', cache: 'no-store', credentials: 'omit', signal: AbortSignal.timeout(pageTimeoutMs) }
  const response = await fetch('/console', options).catch(() => undefined)
  return response?.ok ? (response.headers.get('etag') ?? undefined) : undefined
}

/** Whether somebody types at the login, whose fields are not a tracked form. */
const isAtLogin = () => sessionStatus.value !== 'in' && [...document.querySelectorAll('input')].some(({ value }) => value !== '')

/** Checks whether the server has a newer page. */
export async function checkVersion(): Promise<void> {
  const currentEtag = await readPageTag()
  if (currentEtag === undefined) return
  loadedEtag ??= currentEtag
  if (loadedEtag === currentEtag) return
  if (isDirty() || hasWriteInFlight() || isAtLogin()) isOutdated.value = true
  else location.reload()
}

const reloadedAtKey = 'souk-console-reloaded'
/**
 * Reloads after a module failed to load while the server answers, which means an upgrade. At most once a minute, so
 * that it cannot loop; not at the login.
 */
export async function reloadForMissing(): Promise<void> {
  const last = Number(readStored('sessionStorage', reloadedAtKey))
  if ((Date.now() - last < 60_000 && last <= Date.now()) || (await readPageTag()) === undefined || sessionStatus.value !== 'in') return
  // Without storage a reload could loop.
  if (writeStored('sessionStorage', reloadedAtKey, String(Date.now()))) location.reload()
}
