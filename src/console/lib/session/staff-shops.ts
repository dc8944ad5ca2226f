/** The shops that somebody works in, read anew: what they are, and what one may there, changes while the page is open. */
import { api, ok } from '../api/api.ts'
import { myId, session, sessionStatus } from './session.ts'

const lostShops = new Set<string>()
/** Whether somebody worked in a shop of this name while the page was open, and does so no more. */
export const isLostShop = (name: string | undefined): boolean => name !== undefined && lostShops.has(name)

let asked = 0
/** The newest that was answered. */
let shown = 0
/** Reads them where somebody is in who has any. Of what cannot be read, all stays as it is known. */
export async function reloadShops(): Promise<void> {
  if (sessionStatus.value !== 'in' || !session.value?.roles.includes('MERCHANT')) return
  const who = myId()
  const mine = ++asked
  const found = await ok(api.GET('/merchant/me')).catch(() => undefined)
  // A later one knows more, and whoever has come in meanwhile has their own.
  if (!found || mine < shown || !session.value || myId() !== who) return
  shown = mine
  for (const { id, name } of session.value.shops) if (!found.shops.some((one) => one.id === id)) lostShops.add(name)
  for (const { name } of found.shops) lostShops.delete(name)
  if (JSON.stringify(found.shops) !== JSON.stringify(session.value.shops)) session.value = { ...session.value, shops: found.shops }
}
