import { useRef, useState } from 'preact/hooks'
import { truncate } from '../../lib/format/truncate.ts'
import { common } from '../../lib/i18n/common.ts'
import { Button } from '../../ui/button.tsx'
import { Section } from '../../ui/page.tsx'
import type { ProductEditor } from './editor.ts'
import { fieldErrorText } from './field-texts.ts'
import { t } from './i18n.ts'
import { type OptionText, optionsMax, variantsMax } from './options.domain.ts'

/** The options with their values. The variants follow each change. */
export function OptionsSection({ editor }: { editor: ProductEditor }) {
  const options = editor.options.value
  return (
    <Section title={t('options')} hint={t('optionsHint')}>
      {options.map((option, index) => (
        <OptionField key={option.key} option={option} index={index} editor={editor} />
      ))}
      {options.length < optionsMax && (
        <div class="row">
          <Button icon="plus" onPress={editor.addOption} text={t('addOption')} />
        </div>
      )}
    </Section>
  )
}

function OptionField({ option, index, editor }: { option: OptionText; index: number; editor: ProductEditor }) {
  const field = useRef<HTMLInputElement>(null)
  const [isFull, setFull] = useState(false)
  /** A typed value that exists already. */
  const [duplicate, setDuplicate] = useState<string | undefined>(undefined)
  const { key, name, values } = option
  const replaceOption = (next: OptionText) => editor.setOptions(editor.options.peek().map((option) => (option.key === key ? next : option)))
  const optionName = name.trim() || t('option', { n: index + 1 })
  const nameError = fieldErrorText(editor, `options.${key}.name`)
  const valuesError = fieldErrorText(editor, `options.${key}.values`)
  function add(): void {
    const text = field.current?.value.trim() ?? ''
    if (field.current) field.current.value = ''
    if (text === '') return
    let hasRoom = true
    const existingTexts = new Set(values.map((value) => value.text.trim()))
    let repeated: string | undefined
    for (const value of text.split(',').map((part) => part.trim())) {
      if (existingTexts.has(value)) repeated = value
      else if (value !== '') {
        existingTexts.add(value)
        hasRoom = editor.addValue(key, value) && hasRoom
      }
    }
    setFull(!hasRoom)
    setDuplicate(repeated)
  }
  return (
    <fieldset class="option">
      <legend class="unseen">{optionName}</legend>
      <div class="option-name">
        <label class={nameError ? 'field invalid' : 'field'}>
          <span>{t('optionName')}</span>
          <input
            value={name}
            dir="auto"
            maxLength={255}
            list={`names-${key}`}
            aria-invalid={nameError ? true : undefined}
            onInput={({ currentTarget }) => replaceOption({ ...option, name: currentTarget.value })}
          />
          {nameError && <span class="error">{nameError}</span>}
        </label>
        <datalist id={`names-${key}`}>
          {t('optionNames')
            .split(',')
            .map((value) => (
              <option key={value} value={value} />
            ))}
        </datalist>
        <Button
          kind="quiet"
          icon="close"
          label={t('removeOption', { name: truncate(optionName) })}
          onPress={() => editor.setOptions(editor.options.peek().filter((other) => other.key !== key))}
        />
      </div>
      <div class="option-values">
        {values.map((value, index) => (
          <span key={value.key} class="tag">
            <input
              value={value.text}
              size={Math.max(4, Math.min(24, value.text.length + 1))}
              maxLength={255}
              dir="auto"
              aria-label={t('valueOf', { n: index + 1, name: truncate(optionName) })}
              onInput={({ currentTarget }) =>
                replaceOption({
                  ...option,
                  values: values.map((existing) => (existing.key === value.key ? { ...existing, text: currentTarget.value } : existing)),
                })
              }
            />
            <button
              type="button"
              aria-label={t('removeValue', { name: truncate(value.text) })}
              onClick={() => replaceOption({ ...option, values: values.filter((other) => other.key !== value.key) })}
            >
              ×
            </button>
          </span>
        ))}
        <input
          ref={field}
          aria-label={`${t('newValue')}: ${truncate(optionName)}`}
          placeholder={t('newValue')}
          maxLength={255}
          dir="auto"
          onKeyDown={(event) => {
            if (event.key !== 'Enter' && event.key !== ',') return
            event.preventDefault()
            add()
          }}
          onBlur={add}
        />
        <Button onPress={add} text={common('add')} />
      </div>
      {valuesError && <p class="error">{valuesError}</p>}
      {duplicate !== undefined && (
        <p class="note warn" role="alert">
          {t('valueIsThere', { name: truncate(duplicate) })}
        </p>
      )}
      {isFull && (
        <p class="note warn" role="alert">
          {t('tooMany', { max: variantsMax })}
        </p>
      )}
    </fieldset>
  )
}
