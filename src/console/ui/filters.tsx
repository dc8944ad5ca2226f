import { useEffect, useRef, useState } from 'preact/hooks'
import { directionOf } from '../lib/format/direction.ts'
import { number } from '../lib/format/format.ts'
import { latinOf } from '../lib/forms/number-input.ts'
import { common } from '../lib/i18n/common.ts'
import type { Query } from '../lib/navigation/query.ts'
import { Icon } from './icon.tsx'

export type Filter = {
  /** As it is called in the address and, mostly, in the API. */
  readonly name: string
  readonly label: string
  /** One of these; without them it is a text. */
  readonly options?: readonly (readonly [value: string, text: string])[]
  readonly type?: 'text' | 'date' | 'email'
}

const waitMs = 350

/** A field whose value counts once one leaves it; until then it stays, also where the page is drawn anew for another filter. */
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

/** What a list is searched and filtered by. All of it stands in the address; the search goes off when one stops typing. */
export function Filters({ query, filters, search }: { query: Query; filters: readonly Filter[]; search?: string }) {
  const inAddress = query.of['q'] ?? ''
  const [typed, setTyped] = useState(inAddress)
  const waiting = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  // Back and forward change the address: what is typed follows.
  useEffect(() => setTyped(inAddress), [inAddress])
  useEffect(() => () => clearTimeout(waiting.current), [])
  // The search goes off later than it is typed: what the address has come to meanwhile stays.
  const latest = useRef(query)
  latest.current = query
  const go = (text: string) => {
    clearTimeout(waiting.current)
    const asked = /^#?[\d٠-٩۰-۹]+$/.test(text.trim()) ? latinOf(text) : text
    if (asked !== (latest.current.of['q'] ?? '')) latest.current.set({ q: asked || undefined }, { replace: true })
  }
  /** What the address asks for, where that is one of the choices. */
  const heldOf = ({ name, options }: Filter): string => {
    const asked = query.of[name] ?? ''
    return options && !options.some(([value]) => value === asked) ? '' : asked
  }
  const isFiltered = inAddress !== '' || filters.some(({ name }) => query.of[name])
  // On a phone they would stand before the list: of several, those that are chosen alone unfold them.
  const folds = filters.length > 1
  const chosen = filters.filter(({ name }) => query.of[name]).length
  const [isOpen, setOpen] = useState(chosen > 0)
  return (
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
      {folds && (
        <button type="button" class="button unfold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name={isOpen ? 'close' : 'menu'} />
          <span>
            {common('filter')}
            {chosen > 0 && ` (${number(chosen)})`}
          </span>
        </button>
      )}
      {filters.map((filter) => {
        const { name, label, options, type = 'text' } = filter
        const held = heldOf(filter)
        return (
          <label key={name} class="filter">
            <span>{label}</span>
            {options ? (
              <select value={held} onChange={({ currentTarget: { value } }) => query.set({ [name]: value || undefined })}>
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
                value={held}
                // A date is one with each digit of its year: that is no history.
                onValue={(value) => query.set({ [name]: value || undefined }, { replace: type === 'date' })}
              />
            )}
          </label>
        )
      })}
      {isFiltered && (
        <a
          class="button quiet"
          href={query.href({ q: undefined, ...Object.fromEntries(filters.map(({ name }) => [name, undefined])) })}
          onClick={() => clearTimeout(waiting.current)}
        >
          {common('clear')}
        </a>
      )}
    </form>
  )
}
