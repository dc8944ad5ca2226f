import { signal } from '@preact/signals'

/** A result of the palette. */
export type PaletteEntry = {
  readonly key: string
  readonly group: string
  readonly text: string
  readonly detail?: string
  readonly href: string
  /** Runs instead of opening `href`. */
  readonly run?: () => void
}

export const isShortcutsOpen = signal(false)
/** Opens the list of keyboard shortcuts. */
export const openShortcuts = (): void => {
  isShortcutsOpen.value = true
}
