import { useState } from 'preact/hooks'
import type { Editor } from './editor.ts'
import { t } from './i18n.ts'

/** Drawings of 20 × 20. */
const drawings = {
  strong: 'M6 4h5a3 3 0 0 1 0 6H6zM6 10h6a3 3 0 0 1 0 6H6z',
  em: 'M9 4h5M6 16h5M11.5 4l-3 12',
  h2: 'M3 4v12M10 4v12M3 10h7M13 11a2 2 0 1 1 3.4 1.4L13 16h4.5',
  h3: 'M3 4v12M10 4v12M3 10h7M13 9h4.5l-2.5 3a2 2 0 1 1-2 2.8',
  ul: 'M8 5h9M8 10h9M8 15h9M4 5h.01M4 10h.01M4 15h.01',
  ol: 'M9 5h8M9 10h8M9 15h8M3 4l1-1v4M3 12h2l-2 3h2',
  blockquote: 'M4 6h4v4c0 2-1 4-3 4M12 6h4v4c0 2-1 4-3 4',
  a: 'M8.5 11.5a3 3 0 0 0 4.2 0l2.6-2.6a3 3 0 0 0-4.2-4.2L10 5.8M11.5 8.5a3 3 0 0 0-4.2 0l-2.6 2.6a3 3 0 0 0 4.2 4.2l1.1-1.1',
  img: 'M3 4h14v12H3zM3 14l4-4 3 3 3-3 4 4M8 7.5h.01',
  undo: 'M7 4 3 8l4 4M3 8h9a4 4 0 0 1 0 8H9',
  redo: 'm13 4 4 4-4 4M17 8H8a4 4 0 0 0 0 8h3',
} as const
type Tool = keyof typeof drawings
const tools = Object.keys(drawings) as Tool[]

/** The editor's buttons. Tab reaches one of them, arrow keys the others. */
export function Toolbar({ editor, id, onOpen }: { editor: Editor; id: string; onOpen: (dialog: 'a' | 'img') => void }) {
  const [focusedTool, setReached] = useState<Tool>('strong')
  function handleKey(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
    const forward = getComputedStyle(event.currentTarget).direction === 'rtl' ? 'ArrowLeft' : 'ArrowRight'
    const index = tools.indexOf(focusedTool)
    const isHorizontal = event.key === 'ArrowLeft' || event.key === 'ArrowRight'
    const next = event.key === 'Home' ? 0 : event.key === 'End' ? tools.length - 1 : index + (event.key === forward ? 1 : -1)
    if (!isHorizontal && event.key !== 'Home' && event.key !== 'End') return
    event.preventDefault()
    event.currentTarget.querySelectorAll('button')[(next + tools.length) % tools.length]?.focus()
  }
  return (
    <div class="editor-tools" role="toolbar" aria-label={t('toolbar')} aria-controls={id} onKeyDown={handleKey}>
      {tools.map((tool) => {
        const isHistory = tool === 'undo' || tool === 'redo'
        return (
          <button
            key={tool}
            type="button"
            aria-label={t(tool)}
            title={t(tool)}
            aria-pressed={isHistory || tool === 'img' ? undefined : editor.isActive(tool)}
            aria-disabled={isHistory && !editor.canRun(tool) ? true : undefined}
            tabIndex={tool === focusedTool ? 0 : -1}
            onFocus={() => setReached(tool)}
            // Keeps the selection in the text.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => (tool === 'a' || tool === 'img' ? onOpen(tool) : editor.run(tool))}
          >
            <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
              <path d={drawings[tool]} />
            </svg>
          </button>
        )
      })}
    </div>
  )
}
