import { signal } from '@preact/signals'
import { c } from '../lib/words/common.ts'
import { Button } from './button.tsx'
import { ProblemText } from './problem.tsx'

type Toast = { readonly id: number; readonly text?: string; readonly error?: unknown; readonly undo?: () => unknown }

const toasts = signal<readonly Toast[]>([])
let made = 0
const shownMs = 8_000
const shownMax = 4

const dismiss = (id: number) => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}
function show(toast: Omit<Toast, 'id'>): void {
  const id = ++made
  toasts.value = [...toasts.value, { ...toast, id }].slice(-shownMax)
  // What went wrong stays until it was read.
  if (toast.error === undefined) setTimeout(() => dismiss(id), shownMs)
}

/** Says in passing that something was done. @param undo takes it back, while it is shown */
export const notify = (text: string, options: { undo?: () => unknown } = {}): void => show({ text, ...options })

/** Says that something went wrong, where no form does. */
export const showProblem = (error: unknown): void => show({ error })

/** Where that is shown: once, in the shell. */
export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map(({ id, text, error, undo }) => (
      <div key={id} class={error === undefined ? 'toast' : 'toast bad'}>
        {text === undefined ? <ProblemText error={error} /> : <p>{text}</p>}
        {undo && (
          <Button
            kind="quiet"
            onPress={async () => {
              dismiss(id)
              await undo()
            }}
          >
            {c('undo')}
          </Button>
        )}
        <Button kind="quiet" icon="close" label={c('close')} onPress={() => dismiss(id)} />
      </div>
    ))}
  </div>
)
