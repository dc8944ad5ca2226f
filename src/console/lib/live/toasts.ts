/** Short messages over any page. */
import { signal } from '@preact/signals'

type Toast = {
  readonly id: number
  readonly subject?: string | undefined
  readonly text?: string
  readonly error?: unknown
  readonly undo?: () => unknown
}

export const toasts = signal<readonly Toast[]>([])
let lastId = 0
const durationMs = 8_000
const toastsMax = 4

/** Removes one message; does nothing if it is gone. */
export const dismiss = (id: number) => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}
/** Dismisses success messages before another action; keeps those with an undo. */
export const dismissNotices = () => {
  toasts.value = toasts.value.filter(({ error, undo }) => error !== undefined || undo !== undefined)
}
/** Dismisses everything, when another account signs in. */
export const dismissAll = () => {
  toasts.value = []
}
function addToast(toast: Omit<Toast, 'id'>): void {
  const id = ++lastId
  const others = toasts.value.filter(({ subject }) => subject === undefined || subject !== toast.subject)
  toasts.value = [...others, { ...toast, id }].slice(-toastsMax)
  // Errors stay until they are closed.
  if (toast.error === undefined) setTimeout(() => dismiss(id), durationMs)
}

/**
 * Shows that something succeeded.
 * @param options.undo reverts it while the message is shown
 * @param options.subject replaces earlier messages about the same subject
 */
export const notify = (text: string, options: { undo?: () => unknown; subject?: string } = {}): void => addToast({ text, ...options })

/** Shows an error that no form shows. */
export const showError = (error: unknown): void => addToast({ error })
