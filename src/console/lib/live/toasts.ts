/** What is said in passing, over whichever page is shown. */
import { signal } from '@preact/signals'

type Toast = {
  readonly id: number
  readonly about?: string | undefined
  readonly text?: string
  readonly error?: unknown
  readonly undo?: () => unknown
}

/** Those that are shown now. */
export const toasts = signal<readonly Toast[]>([])
let made = 0
const shownMs = 8_000
const shownMax = 4

export const dismiss = (id: number) => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}
/** Something else is tried: that what was before was done is over, but for what takes it back. */
export const dismissNotices = () => {
  toasts.value = toasts.value.filter(({ error, undo }) => error !== undefined || undo !== undefined)
}
/** Of another account, nothing is to be read. */
export const dismissAll = () => {
  toasts.value = []
}
function addToast(toast: Omit<Toast, 'id'>): void {
  const id = ++made
  const others = toasts.value.filter(({ about }) => about === undefined || about !== toast.about)
  toasts.value = [...others, { ...toast, id }].slice(-shownMax)
  // What went wrong stays until it was read.
  if (toast.error === undefined) setTimeout(() => dismiss(id), shownMs)
}

/**
 * Says in passing that something was done.
 * @param undo takes it back, while it is shown
 * @param about what: what was said of it before is over, and so is its undo
 */
export const notify = (text: string, options: { undo?: () => unknown; about?: string } = {}): void => addToast({ text, ...options })

/** Says that something went wrong, where no form does. */
export const showError = (error: unknown): void => addToast({ error })
