/** The editor of descriptions. It loads with the first field that shows it. */
import { baseKeymap, chainCommands, lift, setBlockType, toggleMark, wrapIn } from 'prosemirror-commands'
import { history, redo, redoDepth, undo, undoDepth } from 'prosemirror-history'
import { keymap } from 'prosemirror-keymap'
import type { Attrs, MarkType, NodeType } from 'prosemirror-model'
import { liftListItem, sinkListItem, splitListItem, wrapInList } from 'prosemirror-schema-list'
import { type Command, EditorState, NodeSelection, Selection, TextSelection } from 'prosemirror-state'
import { EditorView } from 'prosemirror-view'
import { linkRelation } from '../../../lib/html-rules.ts'
import { lossOf, readHtml, readSlice } from './read-html.ts'
import { schema } from './schema.ts'
import { writeHtml } from './write-html.ts'

const nodeType = (name: string): NodeType => schema.nodes[name] ?? schema.topNodeType
const markType = (name: string): MarkType => schema.mark(name).type
const li = nodeType('li')

/** Finds the closest element of a type around the cursor. */
function ancestor({ selection: { $from } }: EditorState, names: readonly string[]) {
  for (let depth = $from.depth; depth > 0; depth--) {
    const node = $from.node(depth)
    if (names.includes(node.type.name)) return { node, at: $from.before(depth) }
  }
  return undefined
}

const toggleHeading =
  (tag: string): Command =>
  (state, dispatch) =>
    setBlockType(nodeType(ancestor(state, [tag]) ? 'p' : tag))(state, dispatch)

const toggleList =
  (tag: string): Command =>
  (state, dispatch) => {
    const list = ancestor(state, ['ul', 'ol'])
    if (!list) return wrapInList(nodeType(tag))(state, dispatch)
    if (list.node.type.name === tag) return liftListItem(li)(state, dispatch)
    dispatch?.(state.tr.setNodeMarkup(list.at, nodeType(tag)))
    return true
  }

const toggleQuote: Command = (state, dispatch) =>
  ancestor(state, ['blockquote']) ? lift(state, dispatch) : wrapIn(nodeType('blockquote'))(state, dispatch)

const breakLine: Command = (state, dispatch) => {
  const { parent } = state.selection.$from
  if (parent.type.spec.code) dispatch?.(state.tr.insertText('\n'))
  else dispatch?.(state.tr.replaceSelectionWith(nodeType('br').create()).scrollIntoView())
  return true
}

/** Starts a paragraph after a table, a picture frame or another block that holds the cursor. */
const leaveBlock: Command = (state, dispatch) => {
  const { $from, $to } = state.selection
  const end = $from.depth === 0 ? $to.pos : $from.after(1)
  const next = state.tr.insert(end, nodeType('p').create())
  dispatch?.(next.setSelection(TextSelection.near(next.doc.resolve(end + 1))).scrollIntoView())
  return true
}

const commands = {
  h2: toggleHeading('h2'),
  h3: toggleHeading('h3'),
  strong: toggleMark(markType('strong')),
  em: toggleMark(markType('em')),
  ul: toggleList('ul'),
  ol: toggleList('ol'),
  blockquote: toggleQuote,
  undo,
  redo,
} as const
type ToolName = keyof typeof commands

const keys: Record<string, Command> = {
  ...{ 'Mod-b': commands.strong, 'Mod-i': commands.em, 'Mod-z': undo, 'Shift-Mod-z': redo, 'Mod-y': redo },
  ...{ Enter: chainCommands(splitListItem(li), baseKeymap['Enter'] ?? breakLine), 'Shift-Enter': breakLine, 'Mod-Enter': leaveBlock },
  ...{ 'Mod-]': sinkListItem(li), 'Mod-[': liftListItem(li) },
}

/** Selects the link around the cursor, so that a command changes all of it. */
function selectLink(view: EditorView): void {
  const { $from, empty } = view.state.selection
  const link = markType('a').isInSet([...$from.marks(), ...($from.nodeAfter?.marks ?? [])])
  if (!empty || !link) return
  const hasLink = (index: number) => link.isInSet($from.parent.child(index).marks)
  let [first, last] = [$from.index(), $from.index()]
  if (first === $from.parent.childCount || !hasLink(first)) first = last = first - 1
  while (first > 0 && hasLink(first - 1)) first--
  while (last + 1 < $from.parent.childCount && hasLink(last + 1)) last++
  const end = $from.posAtIndex(last + 1)
  view.dispatch(view.state.tr.setSelection(TextSelection.create(view.state.doc, $from.posAtIndex(first), end)))
}

/** Pastes HTML. The view's own reader would need another Trusted Types policy. */
function pasteHtml(view: EditorView, data: DataTransfer | null, event: Event): boolean {
  const html = data?.getData('text/html')
  // Files have a button. The view would read their HTML itself.
  const isFile = !html && data?.types.includes('Files') === true
  if (isFile || html) event.preventDefault()
  if (!html) return isFile
  const { $from } = view.state.selection
  const slice = readSlice(html, $from)
  if ($from.parent.type.spec.code || slice.size === 0) view.pasteText(data?.getData('text/plain') ?? '')
  else view.dispatch(view.state.tr.replaceSelection(slice).scrollIntoView().setMeta('uiEvent', 'paste'))
  return true
}

function handleDrop(view: EditorView, event: DragEvent): boolean {
  if (view.dragging) return false
  const target = view.posAtCoords({ left: event.clientX, top: event.clientY })
  if (!target) return false
  view.dispatch(view.state.tr.setSelection(Selection.near(view.state.doc.resolve(target.pos))))
  return pasteHtml(view, event.dataTransfer, event)
}

export type Editor = ReturnType<typeof createEditor>

/** Returns what the editor would remove from HTML. */
export const lossOfHtml = (html: string): readonly string[] => lossOf(html, readHtml(html))

/**
 * Turns an element into an editor.
 * @param onChange called with the HTML after each change; while nothing differs, with the loaded bytes
 * @param onState called when the selection or the content changed
 */
export function createEditor(mount: HTMLElement, onChange: (html: string) => void, onState: () => void) {
  const plugins = [history(), keymap(keys), keymap(baseKeymap)]
  let loaded = { html: '', doc: readHtml('') }
  const view = new EditorView(
    { mount },
    {
      state: EditorState.create({ doc: loaded.doc, plugins }),
      handleDOMEvents: { paste: (editorView, event) => pasteHtml(editorView, event.clipboardData, event), drop: handleDrop },
      dispatchTransaction(change) {
        view.updateState(view.state.apply(change))
        if (change.docChanged) onChange(html())
        onState()
      },
    },
  )
  const html = (): string => (view.state.doc.eq(loaded.doc) ? loaded.html : writeHtml(view.state.doc))
  const selectedPicture = (): Attrs | undefined =>
    view.state.selection instanceof NodeSelection && view.state.selection.node.type.name === 'img'
      ? view.state.selection.node.attrs
      : undefined
  return {
    html,
    destroy: () => view.destroy(),
    /** Replaces the content and its history. */
    load(next: string): void {
      loaded = { html: next, doc: readHtml(next) }
      view.updateState(EditorState.create({ doc: loaded.doc, plugins }))
      onState()
    },
    run(tool: ToolName): void {
      commands[tool](view.state, view.dispatch, view)
      view.focus()
    },
    isActive(tool: ToolName | 'a'): boolean {
      const { $from, empty, from, to } = view.state.selection
      const mark = schema.marks[tool]
      if (!mark) return ancestor(view.state, [tool]) !== undefined
      return empty ? mark.isInSet(view.state.storedMarks ?? $from.marks()) !== undefined : view.state.doc.rangeHasMark(from, to, mark)
    },
    canRun: (tool: ToolName): boolean => (tool === 'undo' ? undoDepth(view.state) > 0 : tool === 'redo' ? redoDepth(view.state) > 0 : true),
    /** Selects the link at the cursor and returns its URL; empty without one. */
    openLink(): string {
      selectLink(view)
      const { from, to } = view.state.selection
      let href = ''
      view.state.doc.nodesBetween(from, to, ({ marks }) => {
        href ||= String(markType('a').isInSet(marks)?.attrs['href'] ?? '')
      })
      return href
    },
    /** Links the selection, or inserts the URL; an empty one removes the link. */
    setLink(href: string): void {
      const { empty, from, to } = view.state.selection
      const link = markType('a').create({ href, rel: linkRelation })
      if (empty && href !== '') view.dispatch(view.state.tr.replaceSelectionWith(schema.text(href, [link]), false))
      else view.dispatch(href === '' ? view.state.tr.removeMark(from, to, markType('a')) : view.state.tr.addMark(from, to, link))
      view.focus()
    },
    selectedPicture,
    /** Inserts a picture, or changes the selected one. */
    setPicture(attrs: { src: string; alt: string }): void {
      const before = selectedPicture()
      view.dispatch(view.state.tr.replaceSelectionWith(nodeType('img').create({ ...before, ...attrs })).scrollIntoView())
      view.focus()
    },
  }
}
