/** Searches records and selects some, by keyboard or pointer. */
import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { directionOf } from '../lib/format/direction.ts'
import { truncate } from '../lib/format/truncate.ts'
import type { Choice } from '../lib/forms/choice.ts'
import { common } from '../lib/i18n/common.ts'
import { ErrorText } from './error-message.tsx'
import { descriptionIds, FieldFrame } from './fields.tsx'
import { Icon } from './icon.tsx'

/** Finds records by text; returns the first ones for an empty text. */
export type RecordFinder<Found extends Choice> = (q: string, signal: AbortSignal) => Promise<readonly Found[]>

const typingPauseMs = 200

type SearchResult<Found> = { readonly q: string; readonly found: readonly Found[]; readonly error?: unknown }

/** Searches while the person types; undefined until the first result. */
function useSearch<Found extends Choice>(input: string, isOpen: boolean, find: RecordFinder<Found>): SearchResult<Found> | undefined {
  const [result, setLooked] = useState<SearchResult<Found> | undefined>(undefined)
  const latest = useRef(find)
  latest.current = find
  useEffect(() => {
    if (!isOpen) return
    const controller = new AbortController()
    const q = input.trim()
    const search = async () => {
      const newResult = await latest.current(q, controller.signal).then(
        (found) => ({ q, found }),
        (error: unknown) => ({ q, found: [], error }),
      )
      if (!controller.signal.aborted) setLooked(newResult)
    }
    const timer = setTimeout(search, q === '' ? 0 : typingPauseMs)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [input, isOpen])
  return result
}

const ChoiceText = ({ choice: { text, detail } }: { choice: Choice }) => (
  <span>
    <bdi>{text}</bdi>
    {detail && (
      <small class="faint">
        <bdi>{detail}</bdi>
      </small>
    )}
  </span>
)

/**
 * A combobox: arrow keys move, Enter or a click selects, Escape closes. It stays open for further selections unless
 * `single`.
 * @param isSelected whether a record is already selected; it can be picked again
 * @param onPick called with a picked record
 */
export function Picker<Found extends Choice>({
  label,
  hint,
  error,
  find,
  isSelected = () => false,
  onPick,
  single,
  disabled,
}: {
  label: string
  hint?: ComponentChildren
  error?: string | undefined
  find: RecordFinder<Found>
  isSelected?: (found: Found) => boolean
  onPick: (found: Found) => void
  single?: boolean
  disabled?: boolean
}) {
  const id = useId()
  const [input, setInput] = useState('')
  const [isOpen, setOpen] = useState(false)
  const [activeIndex, setMarked] = useState(-1)
  const result = useSearch(input, isOpen, find)
  const found = result?.found ?? []
  const isFresh = result?.q === input.trim()
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => list.current?.children[activeIndex]?.scrollIntoView({ block: 'nearest' }), [activeIndex])

  // Enter before the results arrive selects the first one.
  const selectsFirst = useRef(false)
  useEffect(() => {
    if (!isFresh || !selectsFirst.current) return
    selectsFirst.current = false
    pick(found[0])
  }, [result, isFresh])

  function pick(choice: Found | undefined): void {
    if (!choice) return
    onPick(choice)
    if (!single) return
    setInput('')
    setOpen(false)
  }
  function onKeyDown(event: KeyboardEvent): void {
    const last = found.length - 1
    const to = { ArrowDown: activeIndex >= last ? 0 : activeIndex + 1, ArrowUp: activeIndex <= 0 ? last : activeIndex - 1 }[event.key]
    if (to !== undefined) {
      if (isOpen) setMarked(to)
      else setOpen(true)
      // Enter without a marked result does not submit the form.
    } else if (event.key === 'Enter') {
      if (isFresh) pick(isOpen ? found[activeIndex] : undefined)
      else selectsFirst.current = isOpen && input.trim() !== ''
    } else if (event.key === 'Escape' && isOpen) {
      event.stopPropagation()
      setOpen(false)
    } else return
    event.preventDefault()
  }
  const frame = { id, label, hint: hint ?? common('pickHint'), error }
  return (
    <FieldFrame {...frame}>
      <div class="picker">
        <Icon name="search" />
        <input
          id={id}
          type="search"
          {...({ role: 'combobox' } as object)}
          aria-expanded={isOpen}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={isOpen && found[activeIndex] ? `${id}-${activeIndex}` : undefined}
          aria-describedby={descriptionIds(id, frame)}
          aria-invalid={error ? true : undefined}
          autoComplete="off"
          dir={directionOf(input)}
          disabled={disabled}
          maxLength={200}
          value={input}
          onFocus={() => setOpen(true)}
          onClick={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onInput={({ currentTarget: { value } }) => {
            setInput(value)
            setMarked(value.trim() === '' ? -1 : 0)
            selectsFirst.current = false
            setOpen(true)
          }}
          onKeyDown={onKeyDown}
        />
        <div class="picker-options" hidden={!isOpen}>
          {/* Prevents the blur that would close the list. */}
          <ul
            ref={list}
            id={`${id}-list`}
            role="listbox"
            aria-label={label}
            aria-multiselectable={!single}
            onPointerDown={(event) => event.preventDefault()}
            onMouseDown={(event) => event.preventDefault()}
          >
            {found.map((choice, index) => (
              <li
                key={choice.id}
                id={`${id}-${index}`}
                role="option"
                aria-selected={isSelected(choice)}
                class={index === activeIndex ? 'active' : undefined}
                onClick={() => pick(choice)}
                onPointerMove={() => setMarked(index)}
              >
                <ChoiceText choice={choice} />
                {isSelected(choice) && <Icon name="check" />}
              </li>
            ))}
          </ul>
          <p role="status" class="faint">
            {isOpen && !isFresh && common('loading')}
            {isOpen && isFresh && result.error === undefined && found.length === 0 && common('nothingFound')}
          </p>
          {result?.error !== undefined && <ErrorText error={result.error} />}
        </div>
      </div>
    </FieldFrame>
  )
}

/**
 * A picker with the selected records below it. Picking a record again removes it.
 * @param max limit; with 1 another record replaces it
 */
export function PickField<Found extends Choice>({
  bind,
  max,
  label,
  ...rest
}: {
  bind: Signal<readonly Found[]>
  max: number
  label: string
  hint?: ComponentChildren
  error?: string | undefined
  find: RecordFinder<Found>
  disabled?: boolean
}) {
  const isSelected = ({ id }: Choice) => bind.value.some((choice) => choice.id === id)
  const remove = ({ id }: Choice) => {
    bind.value = bind.value.filter((choice) => choice.id !== id)
  }
  function onPick(found: Found): void {
    if (max === 1) bind.value = [found]
    else if (isSelected(found)) remove(found)
    else if (bind.value.length < max) bind.value = [...bind.value, found]
  }
  return (
    <div>
      <Picker
        {...rest}
        label={label}
        isSelected={isSelected}
        onPick={onPick}
        single={max === 1}
        error={rest.error ?? (max > 1 && bind.value.length >= max ? common('pickMax', { n: max }) : undefined)}
      />
      {bind.value.length > 0 && (
        <ul class="picker-selection" aria-label={label}>
          {bind.value.map((choice) => (
            <li key={choice.id}>
              <ChoiceText choice={choice} />
              <button
                type="button"
                class="button quiet"
                aria-label={`${common('remove')}: ${truncate(choice.text)}`}
                onClick={() => remove(choice)}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
