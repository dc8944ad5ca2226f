/** The shops that somebody works in, read anew: what they are, and what one may there, changes while the page is open. */
import { api, ok } from './api.ts'
import { myId, session, standing } from './session.ts'

let asked = 0
/** The newest that was answered. */
let shown = 0
/** Reads them where somebody is in who has any. Of what cannot be read, all stays as it is known. */
export async function readShops(): Promise<void> {
  if (standing.value !== 'in' || !session.value?.roles.includes('MERCHANT')) return
  const who = myId()
  const mine = ++asked
  const found = await ok(api.GET('/merchant/me')).catch(() => undefined)
  // A later one knows more, and whoever has come in meanwhile has their own.
  if (!found || mine < shown || !session.value || myId() !== who) return
  shown = mine
  if (JSON.stringify(found.shops) !== JSON.stringify(session.value.shops)) session.value = { ...session.value, shops: found.shops }
}
