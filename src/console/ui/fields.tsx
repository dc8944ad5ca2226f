/** Form fields. Each is bound to a signal with the typed text, which is parsed on submit. */
import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { useFieldError } from '../lib/api/field-errors.ts'
import { directionOf } from '../lib/format/direction.ts'
import { useLengthLimit } from '../lib/forms/use-length-limit.ts'
import { common } from '../lib/i18n/common.ts'
import { sessionStatus } from '../lib/session/session.ts'
import { Icon } from './icon.tsx'

export type FieldProps = {
  readonly label: string
  /** Names the row of a field, for screen readers, if several fields share a label. */
  readonly rowLabel?: string | undefined
  readonly hint?: ComponentChildren
  /** Error of the typed value. */
  readonly error?: string | undefined
  /** Name in the request body if it differs from the draft's; API errors are assigned by it. */
  readonly name?: string | undefined
  readonly required?: boolean
}
type TextProps = FieldProps & {
  readonly bind: Signal<string>
  readonly type?: 'text' | 'email' | 'password' | 'search' | 'url' | 'tel' | 'date' | 'datetime-local' | 'color'
  readonly max?: number
  readonly inputMode?: 'text' | 'decimal' | 'numeric' | 'email' | 'url'
  readonly autoComplete?: string
  readonly placeholder?: string
  readonly disabled?: boolean
  readonly suggestions?: readonly string[]
  /** Left-to-right in every language: codes, URLs, keys. */
  readonly code?: boolean
}

export function FieldFrame({
  id,
  label,
  rowLabel,
  hint,
  error,
  required,
  cutAt,
  children,
}: FieldProps & { id: string; cutAt?: number | undefined; children: ComponentChildren }) {
  return (
    <div class={error ? 'field invalid' : 'field'}>
      <label for={id} id={`${id}-label`}>
        {label}
        {rowLabel !== undefined && <span class="unseen">{`: ${rowLabel}`}</span>}
        {required && (
          <span class="faint" aria-hidden="true">
            {' *'}
          </span>
        )}
      </label>
      {children}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {cutAt !== undefined && (
        <p class="hint" role="status">
          {common('full', { n: cutAt })}
        </p>
      )}
      {error && (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  )
}

/** Returns the ids of a field's hint and error for `aria-describedby`; undefined without both. */
export const descriptionIds = (id: string, { hint, error }: FieldProps): string | undefined =>
  [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined

/** A single-line field. A password is not in the page while the login covers it. */
export function TextField({
  bind,
  type = 'text',
  max,
  inputMode,
  autoComplete = 'off',
  placeholder,
  disabled,
  suggestions,
  code,
  ...props
}: TextProps) {
  const id = useId()
  const field = useFieldError(bind, props)
  const { cutAt, onPaste } = useLengthLimit(bind, max)
  // The login's own fields appear while the page is locked.
  const [wasUnlocked] = useState(() => sessionStatus.peek() !== 'locked')
  // The browser's `email` type accepts ASCII addresses only.
  const isEmail = type === 'email'
  const isHidden = type === 'password' && wasUnlocked && sessionStatus.value === 'locked'
  return (
    <FieldFrame id={id} {...field} cutAt={cutAt}>
      <input
        id={id}
        {...({ type: isEmail ? 'text' : type } as { type: 'text' })}
        value={isHidden ? '' : bind.value}
        onPaste={onPaste}
        onInput={({ currentTarget }) => (bind.value = currentTarget.value)}
        maxLength={max}
        inputMode={isEmail ? 'email' : inputMode}
        autoCapitalize={isEmail ? 'none' : undefined}
        autoComplete={autoComplete}
        placeholder={placeholder}
        disabled={disabled}
        required={field.required}
        dir={code ? 'ltr' : type === 'text' || type === 'search' ? directionOf(bind.value) : undefined}
        spellcheck={code ? false : undefined}
        list={suggestions ? `${id}-list` : undefined}
        aria-invalid={field.error ? true : undefined}
        aria-describedby={descriptionIds(id, field)}
      />
      {suggestions && (
        <datalist id={`${id}-list`}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </FieldFrame>
  )
}

export function TextAreaField({
  bind,
  rows = 4,
  max,
  code,
  ...props
}: FieldProps & { bind: Signal<string>; rows?: number; max?: number; code?: boolean }) {
  const id = useId()
  const field = useFieldError(bind, props)
  const { cutAt, onPaste } = useLengthLimit(bind, max)
  return (
    <FieldFrame id={id} {...field} cutAt={cutAt}>
      <textarea
        id={id}
        rows={rows}
        value={bind.value}
        onPaste={onPaste}
        maxLength={max}
        required={field.required}
        dir={code ? 'ltr' : directionOf(bind.value)}
        spellcheck={code ? false : undefined}
        class={code ? 'code' : undefined}
        onInput={({ currentTarget }) => (bind.value = currentTarget.value)}
        aria-invalid={field.error ? true : undefined}
        aria-describedby={descriptionIds(id, field)}
      />
    </FieldFrame>
  )
}

/** An amount in major units; `parseMoney` reads it. */
export const MoneyField = ({ currency, ...rest }: Omit<TextProps, 'type' | 'inputMode'> & { currency: string }) => (
  <TextField {...rest} label={`${rest.label} (${currency})`} inputMode="decimal" code />
)

export const NumberField = (props: Omit<TextProps, 'type' | 'inputMode'>) => <TextField {...props} inputMode="numeric" code />

export function SelectField<Value extends string>({
  bind,
  options,
  disabled,
  onSelect,
  ...props
}: FieldProps & {
  bind: Signal<Value>
  options: readonly (readonly [value: Value, text: string])[]
  disabled?: boolean
  /** Called when the person selects another option. */
  onSelect?: () => void
}) {
  const id = useId()
  const field = useFieldError(bind, props)
  return (
    <FieldFrame id={id} {...field}>
      <select
        id={id}
        value={bind.value}
        disabled={disabled}
        onChange={({ currentTarget }) => {
          bind.value = currentTarget.value as Value
          onSelect?.()
        }}
        aria-invalid={field.error ? true : undefined}
        aria-describedby={descriptionIds(id, field)}
      >
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </FieldFrame>
  )
}

export function CheckField({
  bind,
  label,
  hint,
  disabled,
}: {
  bind: Signal<boolean>
  label: string
  hint?: ComponentChildren
  disabled?: boolean
}) {
  const id = useId()
  return (
    <div class="field check">
      <label for={id}>
        <input
          id={id}
          type="checkbox"
          checked={bind.value}
          disabled={disabled}
          onChange={({ currentTarget }) => (bind.value = currentTarget.checked)}
          aria-describedby={hint ? `${id}-hint` : undefined}
        />
        <span>{label}</span>
      </label>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

/** Checkboxes for several of a few options. */
export function ChoicesField<Value extends string>({
  bind,
  label,
  options,
  hint,
}: {
  bind: Signal<readonly Value[]>
  label: string
  options: readonly (readonly [value: Value, text: string])[]
  hint?: ComponentChildren
}) {
  const toggle = (value: Value, isOn: boolean) => {
    bind.value = isOn ? [...bind.value, value] : bind.value.filter((selected) => selected !== value)
  }
  return (
    <fieldset class="field choices">
      <legend>{label}</legend>
      {hint && <p class="hint">{hint}</p>}
      {options.map(([value, text]) => (
        <label key={value} class="choice">
          <input
            type="checkbox"
            checked={bind.value.includes(value)}
            onChange={({ currentTarget }) => toggle(value, currentTarget.checked)}
          />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  )
}

/** A list of words with remove buttons; Enter or a comma adds one. */
export function TagsField({
  bind,
  label,
  hint,
  max = 100,
  code,
}: {
  bind: Signal<readonly string[]>
  label: string
  hint?: ComponentChildren
  max?: number
  code?: boolean
}) {
  const id = useId()
  const [isFull, setFull] = useState(false)
  function add(field: HTMLInputElement): void {
    const words = field.value
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== '')
    const all = [...new Set([...bind.value, ...words])]
    if (words.length > 0) bind.value = all.slice(0, max)
    // Words above the limit stay in the input.
    field.value = all.slice(max).join(', ')
    setFull(all.length > max)
  }
  const frame = { id, label, hint, error: isFull ? common('pickMax', { n: max }) : undefined }
  return (
    <FieldFrame {...frame}>
      <div class="tags">
        {bind.value.map((tag) => (
          <span class="tag" key={tag}>
            <bdi>{tag}</bdi>
            <button
              type="button"
              aria-label={`${common('remove')}: ${tag}`}
              onClick={() => (bind.value = bind.value.filter((other) => other !== tag))}
            >
              <Icon name="close" />
            </button>
          </span>
        ))}
        <input
          id={id}
          dir={code ? 'ltr' : 'auto'}
          autoComplete="off"
          onKeyDown={(event) => {
            if (event.key !== 'Enter' && event.key !== ',') return
            event.preventDefault()
            add(event.currentTarget)
          }}
          onBlur={({ currentTarget }) => add(currentTarget)}
          aria-invalid={isFull ? true : undefined}
          aria-describedby={descriptionIds(id, frame)}
        />
      </div>
    </FieldFrame>
  )
}

/** Prevents the browser from opening a file that is dropped beside the field. */
function useDropGuard(): void {
  useEffect(() => {
    function guard(event: DragEvent): void {
      if (event.defaultPrevented || !event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      event.dataTransfer.dropEffect = 'none'
    }
    addEventListener('dragover', guard)
    addEventListener('drop', guard)
    return () => {
      removeEventListener('dragover', guard)
      removeEventListener('drop', guard)
    }
  }, [])
}

/** A file field with drag and drop. If it takes one file, several dropped files are refused. */
export function FileField({
  label,
  accept,
  multiple,
  onFiles,
  hint,
}: {
  label: string
  accept: string
  multiple?: boolean
  onFiles: (files: readonly File[]) => void
  hint?: ComponentChildren
}) {
  const id = useId()
  const [isTooMany, setTooMany] = useState(false)
  useDropGuard()
  function acceptFiles(files: readonly File[]): void {
    const tooMany = !multiple && files.length > 1
    setTooMany(tooMany)
    if (files.length > 0 && !tooMany) onFiles(files)
  }
  return (
    <div
      class="drop"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        acceptFiles([...(event.dataTransfer?.files ?? [])])
      }}
    >
      <Icon name="upload" />
      <label for={id}>
        <strong>{label}</strong> <span class="faint">{common('drop')}</span>
      </label>
      <input
        id={id}
        type="file"
        accept={accept}
        multiple={multiple}
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])]
          currentTarget.value = ''
          acceptFiles(files)
        }}
      />
      {hint && <p class="hint">{hint}</p>}
      {isTooMany && (
        <p class="error" role="alert">
          {common('pickMax', { n: 1 })}
        </p>
      )}
    </div>
  )
}
