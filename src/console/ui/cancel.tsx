import { c } from '../lib/words/common.ts'
import { Button } from './button.tsx'
import { mayClose } from './dialog.tsx'

/** Closes a form in a window as its cross does. */
export function Cancel({ onCancel }: { onCancel: () => void }) {
  async function cancel(): Promise<void> {
    if (await mayClose()) onCancel()
  }
  return <Button onPress={cancel}>{c('cancel')}</Button>
}
