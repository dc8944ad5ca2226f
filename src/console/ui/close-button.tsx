import { useContext } from 'preact/hooks'
import { common } from '../lib/i18n/common.ts'
import { Button } from './button.tsx'
import { CloseDialogContext } from './dialog.tsx'

/** Closes the dialog that contains it. */
export function CloseButton() {
  const close = useContext(CloseDialogContext)
  return <Button onPress={() => close?.()} text={common('cancel')} />
}
