import { common } from '../lib/i18n/common.ts'
import { notify } from '../lib/live/toasts.ts'
import { Button } from './button.tsx'

/**
 * Shows a text with a copy button.
 * @param label names the text, for the button
 */
export function CopyableText({ text, label }: { text: string; label: string }) {
  return (
    <span class="copyable">
      <code>{text}</code>
      <Button kind="quiet" icon="copy" label={`${common('copy')}: ${label}`} onPress={() => copyText(text)} />
    </span>
  )
}

/**
 * Copies a text to the clipboard.
 * @throws Error if the browser refuses
 */
export async function copyText(text: string): Promise<void> {
  // Missing outside a secure context.
  if (navigator.clipboard) await navigator.clipboard.writeText(text)
  else {
    const previousFocus = document.activeElement
    const area = document.createElement('textarea')
    area.value = text
    // Text outside an open dialog cannot be selected.
    const container = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body
    container.append(area)
    area.select()
    const isCopied = document.execCommand('copy')
    area.remove()
    if (previousFocus instanceof HTMLElement) previousFocus.focus()
    if (!isCopied) throw new Error(common('notCopied'))
  }
  notify(common('copied'))
}
