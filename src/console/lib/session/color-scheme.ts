/** The colours of the console: the system's, light or dark. The browser stores the choice. */
import { signal } from '@preact/signals'
import { readStored, writeStored } from './browser-storage.ts'

/** bootstrap.ts applies it before the first drawing, by the same name. */
const storageKey = 'souk-scheme'
export const colorSchemes = ['system', 'light', 'dark'] as const
type ColorScheme = (typeof colorSchemes)[number]

const stored = readStored('localStorage', storageKey)
export const colorScheme = signal<ColorScheme>(colorSchemes.find((scheme) => scheme === stored) ?? 'system')

/** Applies a choice and stores it, if the browser stores anything. */
export function chooseColorScheme(scheme: ColorScheme): void {
  colorScheme.value = scheme
  if (scheme === 'system') delete document.documentElement.dataset['scheme']
  else document.documentElement.dataset['scheme'] = scheme
  writeStored('localStorage', storageKey, scheme)
}
