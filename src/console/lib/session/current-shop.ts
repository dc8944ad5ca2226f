/** The shop that the URL names. */
import { computed, signal } from '@preact/signals'
import { readStored, writeStored } from './browser-storage.ts'
import { type StaffRole, type StaffShop, session, shops } from './session.ts'

/** Its handle; undefined outside shops. */
export const shopName = signal<string | undefined>(undefined)

/** Sets the shop from a path, before screens are drawn that read by it. The account keeps the menu that led to it. */
export function setShopFromPath(path: string): void {
  if (path === '/console/account') return
  const match = /^\/console\/s\/([^/]+)/.exec(path)?.[1]
  const name = match === undefined ? undefined : decodeURIComponent(match)
  if (shopName.peek() !== name) shopName.value = name
}

export const shop = computed<StaffShop | undefined>(() => shops.value.find(({ name }) => name === shopName.value))

/** The person's role in the shop. */
export const role = computed<StaffRole | undefined>(() => shop.value?.role)

/** What a role may do, for display. The API checks permissions. */
export const canManage = computed(() => role.value === 'OWNER' || role.value === 'MANAGER')
export const canFulfil = computed(() => canManage.value || role.value === 'FULFILMENT')
export const isOwner = computed(() => role.value === 'OWNER')

/** Returns whether the person has one of the roles; without a list, everyone in the shop has. */
export const hasRole = (roles: readonly StaffRole[] | undefined): boolean =>
  !roles || (role.value !== undefined && roles.includes(role.value))

/** Updates the shop after a change. */
export function updateShop(changes: Partial<StaffShop> & { id: string }): void {
  if (!session.value) return
  session.value = { ...session.value, shops: session.value.shops.map((shop) => (shop.id === changes.id ? { ...shop, ...changes } : shop)) }
}

/** Counts 404 responses of a shop, which may mean that the person lost access. */
export const missingShopReports = signal(0)

/** Returns the URL of a shop's home. */
export const shopHref = (name: string): string => `/console/s/${encodeURIComponent(name)}`
/** Returns the URL of a page of the shop: `shopPath('orders', id)`. */
export const shopPath = (...parts: string[]): string => `/console/s/${[shopName.value ?? '', ...parts].map(encodeURIComponent).join('/')}`
/** Returns the URL of an operator page. */
export const operatorPath = (...parts: string[]): string => `/console/net/${parts.map(encodeURIComponent).join('/')}`

const lastShopKey = 'souk-console-shop'
/** Stores the shop as the next start page. */
export function rememberShop(): void {
  if (shop.value) writeStored('localStorage', lastShopKey, shop.value.name)
}
/** Returns the handle that `rememberShop` stored in this browser; null if there is none. */
export const lastShopName = (): string | null => readStored('localStorage', lastShopKey)

/** Returns headers that fix the shop of later requests, such as an undo or a batch. */
export const shopHeader = (id = shop.peek()?.id): { 'x-shop-id'?: string } => (id ? { 'x-shop-id': id } : {})
