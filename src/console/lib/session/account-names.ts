/** E-mail addresses of accounts by id, for operators: requested in batches and cached per session. */
import { type Signal, signal } from '@preact/signals'
import { api, ok } from '../api/api.ts'
import { myId } from './session.ts'

/** Ids of operators, merchants and staff. */
const accountId = /^(usr|mer)_/
const idsPerRequest = 100
let known = new Map<string, Signal<string | undefined>>()
let knownTo: string | undefined
let wanted: string[] = []

async function loadEmails(): Promise<void> {
  const [ids, mine] = [wanted, known]
  wanted = []
  for (let from = 0; from < ids.length; from += idsPerRequest) {
    const some = ids.slice(from, from + idsPerRequest)
    const found = await ok(api.GET('/admin/accounts', { params: { query: { ids: some.join() } } })).catch(() => undefined)
    for (const { id, email } of found?.data ?? []) {
      const one = mine.get(id)
      if (one) one.value = email
    }
    // The next drawing requests them again.
    if (!found) for (const id of some) mine.delete(id)
  }
}

/** Returns the e-mail address of an account; undefined until it is loaded, and for other ids. */
export function emailOf(id: string): string | undefined {
  if (!accountId.test(id)) return undefined
  if (knownTo !== myId()) [known, knownTo] = [new Map(), myId()]
  let one = known.get(id)
  if (!one) {
    one = signal(undefined)
    known.set(id, one)
    if (wanted.push(id) === 1) queueMicrotask(() => void loadEmails())
  }
  return one.value
}
