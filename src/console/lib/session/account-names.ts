/** E-mail addresses of accounts by id, for operators: requested in batches and cached per session. */
import { type Signal, signal } from '@preact/signals'
import { api, ok } from '../api/api.ts'
import { myId } from './session.ts'

/** Ids of operators, merchants and staff. */
const accountId = /^(usr|mer)_/
const idsPerRequest = 100
let emails = new Map<string, Signal<string | undefined>>()
let cachedFor: string | undefined
let pendingIds: string[] = []

async function loadEmails(): Promise<void> {
  const [ids, cache] = [pendingIds, emails]
  pendingIds = []
  for (let start = 0; start < ids.length; start += idsPerRequest) {
    const batch = ids.slice(start, start + idsPerRequest)
    const response = await ok(api.GET('/admin/accounts', { params: { query: { ids: batch.join() } } })).catch(() => undefined)
    for (const { id, email } of response?.data ?? []) {
      const cached = cache.get(id)
      if (cached) cached.value = email
    }
    // The next drawing requests them again.
    if (!response) for (const id of batch) cache.delete(id)
  }
}

/** Returns the e-mail address of an account; undefined until it is loaded, and for other ids. */
export function emailOf(id: string): string | undefined {
  if (!accountId.test(id)) return undefined
  if (cachedFor !== myId()) [emails, cachedFor] = [new Map(), myId()]
  let email = emails.get(id)
  if (!email) {
    email = signal(undefined)
    emails.set(id, email)
    if (pendingIds.push(id) === 1) queueMicrotask(() => void loadEmails())
  }
  return email.value
}
