import type { Signal } from '@preact/signals'
import type { TargetedClipboardEvent } from 'preact'
import { useState } from 'preact/hooks'

/**
 * Reports a paste that the browser cut at `maxlength`.
 * @returns the limit if text was cut, and the paste handler
 */
export function useLengthLimit(bind: Signal<string>, max: number | undefined) {
  const [isCut, setCut] = useState(false)
  return {
    cutAt: isCut && max !== undefined && bind.value.length >= max ? max : undefined,
    onPaste({ clipboardData, currentTarget }: TargetedClipboardEvent<HTMLInputElement | HTMLTextAreaElement>): void {
      const { value, selectionStart, selectionEnd } = currentTarget
      const keptLength = value.length - ((selectionEnd ?? 0) - (selectionStart ?? 0))
      setCut(max !== undefined && keptLength + (clipboardData?.getData('text').length ?? 0) > max)
    },
  }
}
