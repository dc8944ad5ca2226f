import { signal } from '@preact/signals'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { api, ok } from '../lib/api/api.ts'
import { directionOf } from '../lib/format/direction.ts'
import { foldText } from '../lib/format/fold-text.ts'
import { textsLoaded } from '../lib/i18n/catalog.ts'
import { common } from '../lib/i18n/common.ts'
import { navigate } from '../lib/navigation/navigate.ts'
import { operatorPath, role, shop, shopPath } from '../lib/session/current-shop.ts'
import { isOperator } from '../lib/session/session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { ErrorMessage } from '../ui/error-message.tsx'
import { t } from './i18n.ts'
import { availableScreens, screenHref, screenName } from './menu.ts'
import { isShortcutsOpen, openShortcuts, type PaletteEntry } from './palette-entry.ts'

const isOpen = signal(false)
/** Opens the palette with an empty search. */
export const openPalette = (): void => {
  isOpen.value = true
}

const typingPauseMs = 200
const resultsPerKind = 5

/** Loads a module with its texts; undefined until it is loaded. */
function useModule<Module>(load: () => Promise<Module>): Module | undefined {
  const [loaded, setLoaded] = useState<Module>()
  useEffect(() => {
    const loading = load().then((module) => textsLoaded().then(() => setLoaded(() => module)))
    // Without it the palette still finds pages and records.
    loading.catch(() => undefined)
  }, [])
  return loaded
}

function ShortcutsDialog() {
  const module = useModule(() => import('./shortcuts.tsx'))
  return module ? <module.Shortcuts onClose={() => (isShortcutsOpen.value = false)} /> : null
}

/** Whether a key goes into a field, or belongs to an open dialog. */
const isTyping = ({ target }: Event): boolean =>
  (target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')) ||
  document.querySelector('dialog[open]') !== null

/** The command palette: Ctrl-K, some letters, Enter. `?` lists the shortcuts. */
export function Palette() {
  useEffect(() => {
    const handleKey = (event: KeyboardEvent) => {
      if (event.altKey) return
      if (event.key === '?' && !event.ctrlKey && !event.metaKey && !isTyping(event)) return openShortcuts()
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return
      event.preventDefault()
      isOpen.value = !isOpen.value
    }
    addEventListener('keydown', handleKey)
    return () => removeEventListener('keydown', handleKey)
  }, [])
  return (
    <>
      {isOpen.value && <PaletteDialog />}
      {isShortcutsOpen.value && <ShortcutsDialog />}
    </>
  )
}

function findPages(input: string): readonly PaletteEntry[] {
  const foldedText = foldText(input)
  return availableScreens()
    .map((screen): PaletteEntry => ({ key: screen.path, group: t('pages'), text: screenName(screen), href: screenHref(screen) }))
    .filter(({ text }) => foldText(text).includes(foldedText))
}

/** Records found by a search text. */
type RecordSearch = { readonly words: string; readonly found: readonly PaletteEntry[]; readonly error?: unknown }

/** Returns the search text; empty if it is too short or there are no records to search. A digit is an order number. */
function searchTerms(input: string): string {
  const text = input.trim()
  if (!shop.value && !isOperator.value) return ''
  return text.length >= 2 ? text : /^\d$/.test(text) ? `#${text}` : ''
}
const noRecords: RecordSearch = { words: '', found: [] }

async function findShopEntries(words: string, signal: AbortSignal): Promise<RecordSearch> {
  try {
    const { data } = await ok(api.GET('/admin/shops', { params: { query: { q: words, limit: resultsPerKind } }, signal }))
    const found = data.map(({ id, title, name }) => ({
      key: id,
      group: common('shops'),
      text: title || name,
      detail: name,
      href: operatorPath('shops', id),
    }))
    return { words, found }
  } catch (error) {
    return { words, found: [], error }
  }
}

/** Finds orders, products and customers that the role may read. Failed searches are left out and set `error`. */
async function findRecordEntries(words: string, signal: AbortSignal): Promise<RecordSearch> {
  if (!shop.value) return findShopEntries(words, signal)
  const query = { q: words, limit: resultsPerKind }
  const mayRead = role.value !== 'FULFILMENT'
  let error: unknown
  const recordError = (cause: unknown): undefined => {
    error = cause
  }
  const [orders, products, customers] = await Promise.all([
    ok(api.GET('/v2/orders', { params: { query }, signal })).catch(recordError),
    mayRead ? ok(api.GET('/product-v2', { params: { query }, signal })).catch(recordError) : undefined,
    mayRead ? ok(api.GET('/customer', { params: { query }, signal })).catch(recordError) : undefined,
  ])
  const found = [
    ...(orders?.data ?? []).map(({ id, number, email }) => ({
      key: id,
      group: common('orders'),
      text: `#${number}`,
      detail: email ?? '',
      href: shopPath('orders', id),
    })),
    ...(products?.data ?? []).map(({ id, title, handle }) => ({
      key: id,
      group: common('products'),
      text: title,
      detail: handle,
      href: shopPath('products', id),
    })),
    ...(customers?.data ?? []).map(({ id, name, email }) => ({
      key: id,
      group: common('customers'),
      text: name,
      detail: email,
      href: shopPath('customers', id),
    })),
  ]
  return { words, found, error }
}

function PaletteDialog() {
  const { route } = useLocation()
  const [input, setInput] = useState('')
  const [records, setRecords] = useState(noRecords)
  const [selectedIndex, setChosen] = useState(0)
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  const words = searchTerms(input)
  const hint = t(shop.value ? 'paletteHint' : isOperator.value ? 'paletteHintNet' : 'paletteHintPages')
  useEffect(() => field.current?.focus(), [])
  useEffect(() => {
    if (words === '') return setRecords(noRecords)
    const controller = new AbortController()
    const timer = setTimeout(async () => {
      const found = await findRecordEntries(words, controller.signal)
      if (!controller.signal.aborted) setRecords(found)
    }, typingPauseMs)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [words])
  const isFresh = records.words === words
  const entries = useModule(() => import('./palette-entries.ts'))
  const foundPages = findPages(input)
  const others = entries?.findEntries(input).filter(({ key }) => !foundPages.some((page) => page.key === key)) ?? []
  const found = [...foundPages, ...others, ...(isFresh ? records.found : [])]
  const activeIndex = Math.min(selectedIndex, found.length - 1)
  // Enter before the results arrive opens the first one.
  const opensFirst = useRef(false)
  useEffect(() => {
    if (!isFresh || !opensFirst.current) return
    opensFirst.current = false
    openEntry(found[0])
  }, [isFresh])
  const close = () => {
    isOpen.value = false
  }
  function openEntry(entry: PaletteEntry | undefined): void {
    if (!entry) return
    close()
    if (entry.run) entry.run()
    else if (new URL(entry.href, location.origin).pathname === location.pathname) route(entry.href)
    else navigate(entry.href)
  }
  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setChosen((activeIndex + step + found.length) % Math.max(1, found.length))
    else if (event.key === 'Enter' && found.length === 0) opensFirst.current = !isFresh
    else if (event.key === 'Enter') openEntry(found[activeIndex])
    else return
    event.preventDefault()
  }
  return (
    <Dialog title={t('palette')} onClose={close}>
      <div class="palette">
        <input
          ref={field}
          type="text"
          {...({ role: 'combobox' } as object)}
          aria-expanded={found.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={found.length > 0 ? `${id}-${activeIndex}` : undefined}
          aria-label={hint}
          placeholder={hint}
          value={input}
          dir={directionOf(input)}
          onInput={({ currentTarget: { value } }) => {
            setInput(value)
            setChosen(0)
            opensFirst.current = false
          }}
          onKeyDown={onKeyDown}
        />
        <ul id={`${id}-list`} role="listbox" aria-label={t('palette')}>
          {found.map((entry, index) => (
            <li
              key={entry.key}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === activeIndex}
              onClick={() => openEntry(entry)}
              onPointerMove={() => setChosen(index)}
            >
              <span class="faint">{entry.group}</span>
              <bdi>{entry.text}</bdi>
              {entry.detail && (
                <span class="faint">
                  <bdi>{entry.detail}</bdi>
                </span>
              )}
            </li>
          ))}
        </ul>
        {!isFresh ? (
          <p role="status" class="faint">
            {t('paletteSearching')}
          </p>
        ) : records.error !== undefined ? (
          <ErrorMessage error={records.error} />
        ) : (
          found.length === 0 && input.trim() !== '' && <p role="status">{t('paletteNothing')}</p>
        )}
      </div>
    </Dialog>
  )
}
