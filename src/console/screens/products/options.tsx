import { useRef, useState } from 'preact/hooks'
import { short } from '../../lib/format/truncate.ts'
import { c } from '../../lib/i18n/common.ts'
import { Button } from '../../ui/button.tsx'
import { Section } from '../../ui/page.tsx'
import type { Editor } from './editor.ts'
import { wrongOf } from './field-texts.ts'
import { w } from './i18n.ts'
import { type OptionText, optionsMax, variantsMax } from './options.domain.ts'

/** Options with their values. Whatever changes here, the variants follow. */
export function Options({ editor }: { editor: Editor }) {
  const options = editor.options.value
  return (
    <Section title={w('options')} hint={w('optionsHint')}>
      {options.map((option, at) => (
        <Option key={option.key} option={option} at={at} editor={editor} />
      ))}
      {options.length < optionsMax && (
        <div class="row">
          <Button icon="plus" onPress={editor.addOption}>
            {w('addOption')}
          </Button>
        </div>
      )}
    </Section>
  )
}

function Option({ option, at, editor }: { option: OptionText; at: number; editor: Editor }) {
  const field = useRef<HTMLInputElement>(null)
  const [isFull, setFull] = useState(false)
  /** A value that was typed though it is there. */
  const [twice, setTwice] = useState<string | undefined>(undefined)
  const { key, name, values } = option
  const put = (next: OptionText) => editor.setOptions(editor.options.peek().map((one) => (one.key === key ? next : one)))
  const called = name.trim() || w('option', { n: at + 1 })
  const wrongName = wrongOf(editor, `options.${key}.name`)
  const wrongValues = wrongOf(editor, `options.${key}.values`)
  function add(): void {
    const text = field.current?.value.trim() ?? ''
    if (field.current) field.current.value = ''
    if (text === '') return
    let fits = true
    const known = new Set(values.map((value) => value.text.trim()))
    let again: string | undefined
    for (const one of text.split(',').map((part) => part.trim())) {
      if (known.has(one)) again = one
      else if (one !== '') {
        known.add(one)
        fits = editor.addValue(key, one) && fits
      }
    }
    setFull(!fits)
    setTwice(again)
  }
  return (
    <fieldset class="option">
      <legend class="unseen">{called}</legend>
      <div class="option-name">
        <label class={wrongName ? 'field wrong' : 'field'}>
          <span>{w('optionName')}</span>
          <input
            value={name}
            dir="auto"
            maxLength={255}
            list={`names-${key}`}
            aria-invalid={wrongName ? true : undefined}
            onInput={({ currentTarget }) => put({ ...option, name: currentTarget.value })}
          />
          {wrongName && <span class="error">{wrongName}</span>}
        </label>
        <datalist id={`names-${key}`}>
          {w('optionNames')
            .split(',')
            .map((one) => (
              <option key={one} value={one} />
            ))}
        </datalist>
        <Button
          kind="quiet"
          icon="close"
          label={w('removeOption', { name: short(called) })}
          onPress={() => editor.setOptions(editor.options.peek().filter((one) => one.key !== key))}
        />
      </div>
      <div class="option-values">
        {values.map((value, nth) => (
          <span key={value.key} class="tag">
            <input
              value={value.text}
              size={Math.max(4, Math.min(24, value.text.length + 1))}
              maxLength={255}
              dir="auto"
              aria-label={w('valueOf', { n: nth + 1, name: short(called) })}
              onInput={({ currentTarget }) =>
                put({ ...option, values: values.map((one) => (one.key === value.key ? { ...one, text: currentTarget.value } : one)) })
              }
            />
            <button
              type="button"
              aria-label={w('removeValue', { name: short(value.text) })}
              onClick={() => put({ ...option, values: values.filter((one) => one.key !== value.key) })}
            >
              ×
            </button>
          </span>
        ))}
        <input
          ref={field}
          aria-label={`${w('newValue')}: ${short(called)}`}
          placeholder={w('newValue')}
          maxLength={255}
          dir="auto"
          onKeyDown={(event) => {
            if (event.key !== 'Enter' && event.key !== ',') return
            event.preventDefault()
            add()
          }}
          onBlur={add}
        />
        <Button onPress={add}>{c('add')}</Button>
      </div>
      {wrongValues && <p class="error">{wrongValues}</p>}
      {twice !== undefined && (
        <p class="note warn" role="alert">
          {w('valueIsThere', { name: short(twice) })}
        </p>
      )}
      {isFull && (
        <p class="note warn" role="alert">
          {w('tooMany', { max: variantsMax })}
        </p>
      )}
    </fieldset>
  )
}
