import { useEffect, useRef, useState } from 'preact/hooks'
import { directionOf } from '../lib/format/direction.ts'
import { number } from '../lib/format/format.ts'
import { toLatinDigits } from '../lib/forms/number-input.ts'
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

const typingPauseMs = 350

/** The number of filters that are one row, and how many of longer lists stay outside of "More filters". */
const [rowMax, visibleMax] = [4, 3]
const isNarrow = () => matchMedia('(max-width: 40rem)').matches

/** An input that applies its value on change; keeps unfinished text when another filter redraws the page. */
function FilterInput({ type, value, onValue }: { type: NonNullable<Filter['type']>; value: string; onValue: (value: string) => void }) {
  const [input, setInput] = useState(value)
  useEffect(() => setInput(value), [value])
  return (
    <input
      {...({ type: type === 'email' ? 'text' : type } as { type: 'text' })}
      inputMode={type === 'email' ? 'email' : undefined}
      value={input}
      onInput={({ currentTarget }) => setInput(currentTarget.value)}
      onChange={({ currentTarget }) => onValue(currentTarget.value.trim())}
    />
  )
}

/** Search and filters of a list. The URL holds them; the search starts after a typing pause. */
export function Filters({ query, filters, search }: { query: Query; filters: readonly Filter[]; search?: string }) {
  const urlSearch = query.values['q'] ?? ''
  const [input, setInput] = useState(urlSearch)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  // The browser's history changes the URL.
  useEffect(() => setInput(urlSearch), [urlSearch])
  useEffect(() => () => clearTimeout(timer.current), [])
  // The delayed search keeps what the URL has changed meanwhile.
  const latest = useRef(query)
  latest.current = query
  const applySearch = (text: string) => {
    clearTimeout(timer.current)
    const normalized = /^#?[\d٠-٩۰-۹]+$/.test(text.trim()) ? toLatinDigits(text) : text
    if (normalized !== (latest.current.values['q'] ?? '')) latest.current.set({ q: normalized || undefined }, { replace: true })
  }
  /** Returns a filter's value, if it is one of its options. */
  const currentValue = ({ name, options }: Filter): string => {
    const value = query.values[name] ?? ''
    return options && !options.some(([option]) => option === value) ? '' : value
  }
  const isFiltered = urlSearch !== '' || filters.some(({ name }) => query.values[name])
  // On a phone several filters are collapsed, elsewhere those beyond one row, unless one of them is set.
  const isCollapsible = filters.length > 1
  const moreFilters = filters.length > rowMax ? filters.slice(visibleMax) : []
  const countSet = (some: readonly Filter[]) => some.filter(({ name }) => query.values[name]).length
  const [isOpen, setOpen] = useState(() => countSet(isNarrow() ? filters : moreFilters) > 0)
  const drawToggle = (className: string, text: string, count: number) => (
    <button type="button" class={`button ${className}`} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
      <Icon name={isOpen ? 'close' : 'menu'} />
      <span>
        {text}
        {count > 0 && ` (${number(count)})`}
      </span>
    </button>
  )
  const drawFilter = (filter: Filter) => {
    const { name, label, options, type = 'text' } = filter
    const current = currentValue(filter)
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
        class={['filters', isCollapsible && 'collapsible', isOpen && 'open'].filter(Boolean).join(' ')}
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          applySearch(input)
        }}
      >
        {search !== undefined && (
          <label class="search">
            <Icon name="search" />
            <span class="unseen">{search}</span>
            <input
              type="search"
              placeholder={search}
              value={input}
              dir={directionOf(input)}
              onInput={({ currentTarget: { value } }) => {
                setInput(value)
                clearTimeout(timer.current)
                timer.current = setTimeout(() => applySearch(value), typingPauseMs)
              }}
            />
          </label>
        )}
        {isCollapsible && drawToggle('filter-toggle', common('filter'), countSet(filters))}
        {(moreFilters.length > 0 ? filters.slice(0, visibleMax) : filters).map(drawFilter)}
        {moreFilters.length > 0 && drawToggle('more', common('moreFilters'), countSet(moreFilters))}
        {isFiltered && (
          <a
            class="button quiet"
            href={query.href({ q: undefined, ...Object.fromEntries(filters.map(({ name }) => [name, undefined])) })}
            onClick={() => clearTimeout(timer.current)}
          >
            {common('clear')}
          </a>
        )}
        {moreFilters.length > 0 && <div class="more-filters">{moreFilters.map(drawFilter)}</div>}
      </form>
      <SavedViews />
    </>
  )
}
