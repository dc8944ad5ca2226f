import { useEffect, useRef, useState } from 'preact/hooks'
import { directionOf } from '../lib/format/direction.ts'
import { number } from '../lib/format/format.ts'
import { latinOf } from '../lib/forms/number-input.ts'
import { common } from '../lib/i18n/common.ts'
import type { Query } from '../lib/navigation/query.ts'
import { Icon } from './icon.tsx'
import { SavedViews } from './saved-views.tsx'

type Filter = {
  /** Parameter of the URL and, mostly, of the API. */
  readonly name: string
  readonly label: string
  /** The options of a select; a text field without them. */
  readonly options?: readonly (readonly [value: string, text: string])[]
  readonly type?: 'text' | 'date' | 'email'
}

const waitMs = 350

/** The number of filters that are one row, and how many of longer lists stay outside of "More filters". */
const [rowMax, rowFirst] = [4, 3]
const isNarrow = () => matchMedia('(max-width: 40rem)').matches

/** An input that applies its value on change; keeps unfinished text when another filter redraws the page. */
function FilterInput({ type, value, onValue }: { type: NonNullable<Filter['type']>; value: string; onValue: (value: string) => void }) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  return (
    <input
      {...({ type: type === 'email' ? 'text' : type } as { type: 'text' })}
      inputMode={type === 'email' ? 'email' : undefined}
      value={typed}
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      onChange={({ currentTarget }) => onValue(currentTarget.value.trim())}
    />
  )
}

/** Search and filters of a list. The URL holds them; the search starts after a typing pause. */
export function Filters({ query, filters, search }: { query: Query; filters: readonly Filter[]; search?: string }) {
  const inAddress = query.of['q'] ?? ''
  const [typed, setTyped] = useState(inAddress)
  const waiting = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  // The browser's history changes the URL.
  useEffect(() => setTyped(inAddress), [inAddress])
  useEffect(() => () => clearTimeout(waiting.current), [])
  // The delayed search keeps what the URL has changed meanwhile.
  const latest = useRef(query)
  latest.current = query
  const go = (text: string) => {
    clearTimeout(waiting.current)
    const asked = /^#?[\d٠-٩۰-۹]+$/.test(text.trim()) ? latinOf(text) : text
    if (asked !== (latest.current.of['q'] ?? '')) latest.current.set({ q: asked || undefined }, { replace: true })
  }
  /** Returns a filter's value, if it is one of its options. */
  const heldOf = ({ name, options }: Filter): string => {
    const asked = query.of[name] ?? ''
    return options && !options.some(([value]) => value === asked) ? '' : asked
  }
  const isFiltered = inAddress !== '' || filters.some(({ name }) => query.of[name])
  // On a phone several filters are collapsed, elsewhere those beyond one row, unless one of them is set.
  const folds = filters.length > 1
  const further = filters.length > rowMax ? filters.slice(rowFirst) : []
  const countChosen = (some: readonly Filter[]) => some.filter(({ name }) => query.of[name]).length
  const [isOpen, setOpen] = useState(() => countChosen(isNarrow() ? filters : further) > 0)
  const unfold = (look: string, text: string, chosen: number) => (
    <button type="button" class={`button ${look}`} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
      <Icon name={isOpen ? 'close' : 'menu'} />
      <span>
        {text}
        {chosen > 0 && ` (${number(chosen)})`}
      </span>
    </button>
  )
  const draw = (filter: Filter) => {
    const { name, label, options, type = 'text' } = filter
    const current = heldOf(filter)
    return (
      <label key={name} class="filter">
        <span>{label}</span>
        {options ? (
          <select value={current} onChange={({ currentTarget: { value } }) => query.set({ [name]: value || undefined })}>
            <option value="">{common('all')}</option>
            {options.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        ) : (
          <FilterInput
            type={type}
            value={current}
            // The value is a date after each digit of its year, which makes no history entries.
            onValue={(value) => query.set({ [name]: value || undefined }, { replace: type === 'date' })}
          />
        )}
      </label>
    )
  }
  return (
    <>
      <form
        class={['filters', folds && 'folds', isOpen && 'open'].filter(Boolean).join(' ')}
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          go(typed)
        }}
      >
        {search !== undefined && (
          <label class="search">
            <Icon name="search" />
            <span class="unseen">{search}</span>
            <input
              type="search"
              placeholder={search}
              value={typed}
              dir={directionOf(typed)}
              onInput={({ currentTarget: { value } }) => {
                setTyped(value)
                clearTimeout(waiting.current)
                waiting.current = setTimeout(() => go(value), waitMs)
              }}
            />
          </label>
        )}
        {folds && unfold('unfold', common('filter'), countChosen(filters))}
        {(further.length > 0 ? filters.slice(0, rowFirst) : filters).map(draw)}
        {further.length > 0 && unfold('more', common('moreFilters'), countChosen(further))}
        {isFiltered && (
          <a
            class="button quiet"
            href={query.href({ q: undefined, ...Object.fromEntries(filters.map(({ name }) => [name, undefined])) })}
            onClick={() => clearTimeout(waiting.current)}
          >
            {common('clear')}
          </a>
        )}
        {further.length > 0 && <div class="further">{further.map(draw)}</div>}
      </form>
      <SavedViews />
    </>
  )
}
