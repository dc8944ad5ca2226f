/** The shop that the page is about: the one that its address names. */
import { computed, signal } from '@preact/signals'
import { readStored, writeStored } from './browser-storage.ts'
import { type StaffRole, type StaffShop, session, shops } from './session.ts'

/** Its handle, out of the address; undefined on pages that are about none. */
export const shopName = signal<string | undefined>(undefined)

/** Notes which shop a path of the console is about: before its screens are drawn, since they read by it. */
export function setShopFromPath(path: string): void {
  const named = /^\/console\/s\/([^/]+)/.exec(path)?.[1]
  const name = named === undefined ? undefined : decodeURIComponent(named)
  if (shopName.peek() !== name) shopName.value = name
}

export const shop = computed<StaffShop | undefined>(() => shops.value.find(({ name }) => name === shopName.value))

/** What somebody is in the shop that the page is about. */
export const role = computed<StaffRole | undefined>(() => shop.value?.role)

/** What a role may, for what is shown; souk decides what is done. */
export const mayManage = computed(() => role.value === 'OWNER' || role.value === 'MANAGER')
export const mayFulfil = computed(() => mayManage.value || role.value === 'FULFILMENT')
export const isOwner = computed(() => role.value === 'OWNER')

/** Puts a shop as it is after a change in the place of the one that is known. */
export function updateShop(changed: Partial<StaffShop> & { id: string }): void {
  if (!session.value) return
  session.value = { ...session.value, shops: session.value.shops.map((one) => (one.id === changed.id ? { ...one, ...changed } : one)) }
}

/** Raised where souk knows no such shop any more: whoever worked in it may do so no longer, and what is known of that is old. */
export const missingShopReports = signal(0)

/** The address of a page of this shop: `at('orders', id)`. */
export const shopPath = (...parts: string[]): string => `/console/s/${[shopName.value ?? '', ...parts].map(encodeURIComponent).join('/')}`
/** The address of a page of the operator's. */
export const operatorPath = (...parts: string[]): string => `/console/net/${parts.map(encodeURIComponent).join('/')}`

const lastShop = 'souk-console-shop'
/** Notes the shop that the page is about: one begins in it next time. */
export function rememberShop(): void {
  if (shop.value) writeStored('localStorage', lastShop, shop.value.name)
}
export const lastShopName = (): string | null => readStored('localStorage', lastShop)

/** Headers of what is for a shop, whichever is shown by the time that it is sent: an undo, or one of many. @param id of the one that is shown now */
export const shopHeader = (id = shop.peek()?.id): { 'x-shop-id'?: string } => (id ? { 'x-shop-id': id } : {})
