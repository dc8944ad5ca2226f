/** A part of the page that a phone shows in a drawer, and a wider screen in place. */
import { h } from './dom.ts'
import type { Words } from './i18n.ts'

/** Makes the drawer. While it is open, its content moves into the dialog. @param label of the button that opens it */
export function drawer(label: string, content: HTMLElement, words: Words): HTMLElement {
  const place = h('div', { class: 'wide' }, content)
  const close = h('button', { type: 'button', class: 'quiet', onclick: () => dialog.close() }, words.close)
  const dialog: HTMLDialogElement = h('dialog', { class: 'drawer', 'aria-label': label, onclose: putBack }, close)
  function putBack(): void {
    // The drawer may be open again when this event arrives.
    if (!dialog.open) place.append(content)
  }
  const open = () => {
    dialog.append(content)
    dialog.showModal()
  }
  return h('div', {}, h('button', { type: 'button', class: 'quiet narrow', onclick: open }, label), place, dialog)
}
