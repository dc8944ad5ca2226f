/** Forms for keyboards, screen readers and password managers. */
import { Refused } from './api.ts'
import { type Child, h, refill } from './dom.ts'
import type { Words } from './i18n.ts'
import { problem } from './layout.ts'

let fields = 0

type Field = {
  readonly label: string
  readonly name: string
  readonly type?: string
  readonly value?: string | number | null | undefined
  readonly hint?: string
  readonly required?: boolean
  readonly autocomplete?: string
}
/** Limits, and the kind of on-screen keyboard. */
type Limits = {
  readonly min?: number
  readonly max?: number
  readonly step?: number | string
  readonly minlength?: number
  readonly maxlength?: number
  readonly inputmode?: string
  readonly autocapitalize?: string
  readonly spellcheck?: string
}

/** A field with its label and a hint, which a screen reader reads with it. */
export function field({ label, hint, type = 'text', value, ...rest }: Field & Limits): HTMLElement {
  const id = `field-${++fields}`
  const input = h('input', { ...rest, id, type, value, 'aria-describedby': hint === undefined ? null : `${id}-hint` })
  return h(
    'div',
    { class: 'field' },
    h('label', { for: id }, label),
    input,
    hint !== undefined && h('p', { id: `${id}-hint`, class: 'small' }, hint),
  )
}

export type Choice = { readonly value: string; readonly label: string }
type Select = Omit<Field, 'type' | 'hint'> & { readonly choices: readonly Choice[]; readonly onchange?: (value: string) => void }

/** A list to choose one of. */
export function select({ label, choices, value, onchange, ...rest }: Select): HTMLElement {
  const id = `field-${++fields}`
  const options = choices.map((choice) => h('option', { value: choice.value, selected: choice.value === value }, choice.label))
  const list = h('select', { ...rest, id }, options)
  if (onchange) list.addEventListener('change', () => onchange(list.value))
  return h('div', { class: 'field' }, h('label', { for: id }, label), list)
}

/** A box to tick. */
export function tick({ label, name, checked = false }: { label: string; name: string; checked?: boolean }): HTMLElement {
  return h('label', { class: 'tick' }, h('input', { type: 'checkbox', name, checked }), ' ', label)
}

export type Radio = { readonly value: string; readonly label: Child }
/** Radio buttons. @param legend names the group for screen readers */
export const radios = (name: string, legend: string, all: readonly Radio[], chosen: string | undefined): HTMLElement =>
  h(
    'fieldset',
    {},
    h('legend', { class: 'unseen' }, legend),
    all.map(({ value, label }) =>
      h(
        'label',
        { class: 'tick' },
        h('input', { type: 'radio', name, value, required: true, checked: value === chosen }),
        ' ',
        h('span', {}, label),
      ),
    ),
  )

type Form = {
  readonly words: Words
  readonly submit: string
  /** Names the form if a page has several. */
  readonly label?: string
  /**
   * Submits the form. Errors are shown in the form, and the fields keep their values.
   * `say` shows a text below the button, which screen readers read.
   */
  readonly onSubmit: (values: FormData, say: (text: string) => void) => Promise<void>
  /** Replaces souk's message of an error. */
  readonly refusals?: Readonly<Record<number, string>>
  /** Beside the button. */
  readonly beside?: Child
  readonly class?: string
}

export function form({ words, submit, label, onSubmit, refusals = {}, beside, ...rest }: Form, ...children: Child[]): HTMLFormElement {
  const wrong = h('div', {})
  const button = h('button', { type: 'submit' }, submit)
  const said = h('p', { role: 'status', class: 'said' })
  const say = (text: string) => refill(said, text)
  let isAtWork = false
  async function send(event: Event): Promise<void> {
    event.preventDefault()
    // A disabled button would lose the focus, so a second press is ignored instead.
    if (isAtWork) return
    isAtWork = true
    button.setAttribute('aria-busy', 'true')
    refill(wrong)
    say('')
    try {
      await onSubmit(new FormData(event.target as HTMLFormElement), say)
    } catch (error) {
      const shown = problem(error, words, error instanceof Refused ? refusals[error.status] : undefined)
      refill(wrong, shown)
      shown.focus()
    } finally {
      isAtWork = false
      button.removeAttribute('aria-busy')
    }
  }
  return h('form', { ...rest, 'aria-label': label, onsubmit: send }, children, wrong, h('p', { class: 'actions' }, button, beside), said)
}

/** Returns the trimmed value of a field. */
export const typed = (values: FormData, name: string): string => String(values.get(name) ?? '').trim()

/** A button that runs an action. Errors are shown beside it. */
export function action(words: Words, label: Child, act: () => Promise<void>, attributes: Record<string, string> = {}): HTMLElement {
  const wrong = h('span', {})
  const press = async () => {
    refill(wrong)
    try {
      await act()
    } catch (error) {
      refill(wrong, problem(error, words))
    }
  }
  return h('span', { class: 'action' }, h('button', { type: 'button', class: 'quiet', ...attributes, onclick: press }, label), wrong)
}
