/** Reads the person's shops again: shops and roles change while the page is open. */
import { api, ok } from '../api/api.ts'
import { myId, session, sessionStatus } from './session.ts'

/** Returns whether `GET /merchant/me` has a record: for merchants, and for operators who work in shops. */
export const hasMerchantAccount = ({ roles, shops }: { roles: readonly string[]; shops: readonly unknown[] }): boolean =>
  roles.includes('MERCHANT') || shops.length > 0

const lostShops = new Set<string>()
/** Returns whether the person lost access to a shop while the page was open. */
export const isLostShop = (name: string | undefined): boolean => name !== undefined && lostShops.has(name)

let lastRequest = 0
/** Number of the newest response. */
let lastShown = 0
/** Reads the shops of a person who works in some. A failure changes nothing. */
export async function reloadShops(): Promise<void> {
  if (sessionStatus.value !== 'in' || !session.value || !hasMerchantAccount(session.value)) return
  const personId = myId()
  const request = ++lastRequest
  const response = await ok(api.GET('/merchant/me')).catch(() => undefined)
  // A later response or another account wins.
  if (!response || request < lastShown || !session.value || myId() !== personId) return
  lastShown = request
  for (const { id, name } of session.value.shops) if (!response.shops.some((shop) => shop.id === id)) lostShops.add(name)
  for (const { name } of response.shops) lostShops.delete(name)
  if (JSON.stringify(response.shops) !== JSON.stringify(session.value.shops)) session.value = { ...session.value, shops: response.shops }
}
