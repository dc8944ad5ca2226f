/** The program's version: after an upgrade the page begins again, unless somebody is in the middle of something. */
import { signal } from '@preact/signals'
import { isDirty } from './dirty.ts'

/** True once the server has another page than this one, and somebody has to say when. */
export const isOutdated = signal(false)

let etag: string | undefined

/** Looks whether the server has another page by now. */
export async function checkVersion(): Promise<void> {
  const answer = await fetch('/console', { method: 'HEAD', cache: 'no-store', credentials: 'omit' }).catch(() => undefined)
  const now = answer?.ok ? (answer.headers.get('etag') ?? undefined) : undefined
  if (now === undefined) return
  etag ??= now
  if (etag === now) return
  if (isDirty()) isOutdated.value = true
  else location.reload()
}

const reloadedAt = 'souk-console-reloaded'
/** A part of the page is not there any more: it is of the program before. Once a minute at most, lest it goes round. */
export function reloadForMissing(): void {
  const last = Number(sessionStorage.getItem(reloadedAt))
  if (Date.now() - last < 60_000 && last <= Date.now()) return
  sessionStorage.setItem(reloadedAt, String(Date.now()))
  location.reload()
}
