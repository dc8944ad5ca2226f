import type { Attrs, Mark, Node } from 'prosemirror-model'
import { voidTags } from './schema.ts'

const escapeText = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')

/** Writes a start tag as the sanitiser does. */
function startTag(tag: string, attrs: Attrs): string {
  const pairs = Object.entries(attrs).filter(([name, value]) => typeof value === 'string' && (value !== '' || name === 'alt'))
  const text = pairs.map(([name, value]) => ` ${name}="${escapeText(String(value)).replace(/"/g, '&quot;')}"`).join('')
  return `<${tag}${text}${voidTags.has(tag) ? ' />' : '>'}`
}

const isBlank = (node: Node): boolean => /^[ \t\r\n\f]*$/.test(node.text ?? 'x')

/**
 * Returns the range of nodes whose marks are written. Readers drop white space at the edges of a block, except in
 * `pre`, and its marks with it.
 */
function markedRange({ type, children }: Node): { from: number; to: number } {
  if (type.whitespace === 'pre') return { from: 0, to: children.length }
  const hasContent = (node: Node) => !isBlank(node)
  return { from: children.findIndex(hasContent), to: children.findLastIndex(hasContent) + 1 }
}

/** Writes text with its marks. Neighbours share the elements of their common marks. */
function writeInline(block: Node): string {
  const { from, to } = markedRange(block)
  let html = ''
  let open: readonly Mark[] = []
  const closeTo = (length: number) => {
    for (const { type } of open.slice(length).toReversed()) html += `</${type.name}>`
  }
  block.forEach((node, _, index) => {
    const marks = index >= from && index < to ? node.marks : []
    const shared = marks.findIndex((mark, nth) => !open[nth]?.eq(mark))
    const common = shared < 0 ? marks.length : shared
    closeTo(common)
    for (const { type, attrs } of marks.slice(common)) html += startTag(type.name, attrs)
    open = marks
    html += node.isText ? escapeText(node.text ?? '') : startTag(node.type.name, node.attrs)
  })
  closeTo(0)
  return html
}

/** A paragraph without tags: text directly in a list item or another element that had none. */
function isBare(node: Node, parent: Node, index: number): boolean {
  const isParagraph = (other: Node | null) => other?.type.name === 'p'
  if (!isParagraph(node) || parent.type.name === 'doc' || node.attrs['dir'] || node.attrs['lang']) return false
  const hasNeighbour = [index - 1, index + 1].some((neighbour) => isParagraph(parent.maybeChild(neighbour)))
  return !hasNeighbour && (node.attrs['bare'] === true || parent.type.name === 'li')
}

function writeNode(node: Node, parent: Node, index: number): string {
  const { type, attrs } = node
  const tag = type.name
  if (voidTags.has(tag)) return startTag(tag, attrs)
  const inner = node.isTextblock ? writeInline(node) : writeContent(node)
  if (isBare(node, parent, index)) return inner
  // Browsers drop the first line break of `pre`.
  return `${startTag(tag, attrs)}${tag === 'pre' && inner.startsWith('\n') ? '\n' : ''}${inner}</${tag}>`
}

function writeContent(parent: Node): string {
  let html = ''
  parent.forEach((node, _, index) => {
    html += writeNode(node, parent, index)
  })
  return html
}

/** Writes a document as HTML that the sanitiser returns unchanged; an empty one as an empty text. */
export const writeHtml = (doc: Node): string =>
  doc.childCount === 1 && doc.firstChild?.type.name === 'p' && doc.firstChild.childCount === 0 ? '' : writeContent(doc)
