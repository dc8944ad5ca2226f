/** A list that is sorted by arrow keys on handles or by dragging. */
import type { ComponentChildren, Key } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { truncate } from '../lib/format/truncate.ts'
import { common } from '../lib/i18n/common.ts'
import { Icon } from './icon.tsx'

/** Returns the list with one item moved. */
export function moveItem<Item>(items: readonly Item[], from: number, to: number): readonly Item[] {
  const item = items[from]
  const target = Math.max(0, Math.min(items.length - 1, to))
  if (item === undefined || target === from) return items
  const rest = items.toSpliced(from, 1)
  return rest.toSpliced(target, 0, item)
}

/**
 * @param first index of the first item in the whole list
 * @param total length of the whole list
 * @param onMove gets indexes of the whole list
 * @param children draws an item
 */
export function SortableList<Item>({
  label,
  items,
  keyOf,
  nameOf,
  onMove,
  children,
  first = 0,
  total = items.length,
  grid,
}: {
  label: string
  items: readonly Item[]
  keyOf: (item: Item) => Key
  nameOf: (item: Item) => string
  onMove: (from: number, to: number) => void
  children: (item: Item, index: number) => ComponentChildren
  first?: number
  total?: number
  grid?: boolean
}) {
  const list = useRef<HTMLOListElement>(null)
  const [announcement, setTold] = useState('')
  const refocusKey = useRef<Key | undefined>(undefined)
  const dragging = useRef<{ index: number } | undefined>(undefined)
  const latest = useRef(onMove)
  latest.current = onMove
  // A moved element loses the focus.
  useEffect(() => {
    if (refocusKey.current === undefined) return
    const index = items.findIndex((item) => keyOf(item) === refocusKey.current)
    if (index < 0) return
    refocusKey.current = undefined
    handleAt(list.current, index)?.focus()
  })
  const stopDragging = useRef<(() => void) | undefined>(undefined)
  useEffect(() => () => stopDragging.current?.(), [])

  function onKeyDown(event: KeyboardEvent, item: Item, index: number): void {
    const isRtl = getComputedStyle(event.currentTarget as Element).direction === 'rtl'
    const gridKeys = grid ? { ArrowLeft: index + (isRtl ? 1 : -1), ArrowRight: index + (isRtl ? -1 : 1) } : {}
    const to = ({ ArrowUp: index - 1, ArrowDown: index + 1, Home: 0, End: total - 1, ...gridKeys } as Record<string, number>)[event.key]
    if (to === undefined) return
    event.preventDefault()
    const target = Math.max(0, Math.min(total - 1, to))
    if (target === index) return
    refocusKey.current = keyOf(item)
    onMove(index, target)
    setTold(common('movedTo', { name: truncate(nameOf(item)), place: target + 1, total }))
  }
  function drag(event: PointerEvent): void {
    const current = dragging.current
    const rows = [...(list.current?.children ?? [])]
    if (!current || rows.length === 0) return
    const distances = rows.map((row) => {
      const { left, top, width, height } = row.getBoundingClientRect()
      return Math.hypot(grid ? event.clientX - left - width / 2 : 0, event.clientY - top - height / 2)
    })
    const to = first + distances.indexOf(Math.min(...distances))
    if (to === current.index) return
    latest.current(current.index, to)
    current.index = to
  }
  function stopDrag(): void {
    dragging.current = undefined
    stopDragging.current = undefined
    list.current?.classList.remove('dragging')
    removeEventListener('pointermove', drag)
    removeEventListener('pointerup', stopDrag)
    removeEventListener('pointercancel', stopDrag)
  }
  function startDrag(event: PointerEvent, index: number): void {
    if (event.button !== 0) return
    dragging.current = { index }
    stopDragging.current = stopDrag
    list.current?.classList.add('dragging')
    addEventListener('pointermove', drag)
    addEventListener('pointerup', stopDrag)
    addEventListener('pointercancel', stopDrag)
  }
  return (
    <>
      <ol ref={list} class={grid ? 'ordered in-grid' : 'ordered'} aria-label={label}>
        {items.map((item, offset) => {
          const index = first + offset
          return (
            <li key={keyOf(item)}>
              <button
                type="button"
                class="handle"
                aria-label={common('move', { name: truncate(nameOf(item)) || String(index + 1) })}
                title={common('moveHint')}
                onKeyDown={(event) => onKeyDown(event, item, index)}
                onPointerDown={(event) => startDrag(event, index)}
              >
                <Icon name="grip" />
              </button>
              {children(item, index)}
            </li>
          )
        })}
      </ol>
      <p class="unseen" role="status">
        {announcement}
      </p>
    </>
  )
}

const handleAt = (list: HTMLElement | null, index: number): HTMLElement | null =>
  list?.children[index]?.querySelector<HTMLElement>(':scope > .handle') ?? null
