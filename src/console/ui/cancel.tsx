import { isDirty } from '../lib/dirty.ts'
import { c } from '../lib/words/common.ts'
import { Button } from './button.tsx'
import { askToLeave } from './dialog.tsx'

/** Closes a form in a window as its cross does: what was typed is asked about first. */
export function Cancel({ onCancel }: { onCancel: () => void }) {
  async function cancel(): Promise<void> {
    if (!isDirty() || (await askToLeave())) onCancel()
  }
  return <Button onPress={cancel}>{c('cancel')}</Button>
}
