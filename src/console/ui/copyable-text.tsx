import { common } from '../lib/i18n/common.ts'
import { notify } from '../lib/live/toasts.ts'
import { Button } from './button.tsx'

/** A text that somebody takes along, such as a key. @param label what it is, for the button */
export function CopyableText({ text, label }: { text: string; label: string }) {
  return (
    <span class="copyable">
      <code>{text}</code>
      <Button kind="quiet" icon="copy" label={`${common('copy')}: ${label}`} onPress={() => copyText(text)} />
    </span>
  )
}

/** Puts a text where it can be pasted from. @throws Error where the browser lets nobody */
export async function copyText(text: string): Promise<void> {
  // Not there without a secure context.
  if (navigator.clipboard) await navigator.clipboard.writeText(text)
  else {
    const before = document.activeElement
    const area = document.createElement('textarea')
    area.value = text
    // A window over the page lets nothing outside of it be selected.
    const within = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body
    within.append(area)
    area.select()
    const isCopied = document.execCommand('copy')
    area.remove()
    if (before instanceof HTMLElement) before.focus()
    if (!isCopied) throw new Error(common('notCopied'))
  }
  notify(common('copied'))
}
