/** Optional parts of the console. Their menu entries are hidden until they are used. */
import { signal } from '@preact/signals'
import type { components } from '../schema.d.ts'
import { readStored, writeStored } from './browser-storage.ts'
import { shop } from './current-shop.ts'
import { session } from './session.ts'

export type Feature = components['schemas']['ConsoleSession']['features'][number] | 'AFFILIATES'

const storageKey = 'souk-console-features'
/** Features whose pages were opened in this browser, such as from the search. */
const openedFeatures = signal<readonly string[]>((readStored('localStorage', storageKey) ?? '').split(' '))

/** Adds the feature of an opened page to the menu. */
export function rememberFeature(feature: Feature | undefined): void {
  if (feature === undefined || openedFeatures.peek().includes(feature)) return
  openedFeatures.value = [...openedFeatures.peek(), feature]
  writeStored('localStorage', storageKey, openedFeatures.value.join(' '))
}

/** Returns whether a feature is switched on, has records or was opened. */
export function isFeatureShown(feature: Feature): boolean {
  if (openedFeatures.value.includes(feature)) return true
  if (feature === 'AFFILIATES') return session.value?.affiliateShops.includes(shop.value?.id ?? '') ?? false
  return session.value?.features.includes(feature) ?? false
}
