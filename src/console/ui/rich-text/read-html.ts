import { DOMParser, type Node, type ResolvedPos, type Slice } from 'prosemirror-model'
import { nestingMax } from '../../../lib/html-rules.ts'
import { droppedElements, parseInert, styleAttribute } from '../../lib/format/html-preview.ts'
import { aliases, schema } from './schema.ts'
import { writeHtml } from './write-html.ts'

const parser = DOMParser.fromSchema(schema)
/** The schema can add a level to each element. */
const depthMax = nestingMax / 2

/** Makes lists of Word's paragraphs that look like list items. */
function convertWordLists(body: HTMLElement): void {
  for (const item of body.querySelectorAll<HTMLElement>(`p[${styleAttribute}*="mso-list"]`)) {
    const marker = item.querySelector(`[${styleAttribute}*="mso-list"]`)
    const tag = /^\s*\w+[.)]/.test(marker?.textContent ?? '') ? 'ol' : 'ul'
    marker?.remove()
    const before = item.previousElementSibling
    const list = before instanceof HTMLElement && before.dataset['word'] === tag ? before : document.createElement(tag)
    list.dataset['word'] = tag
    if (list !== before) item.before(list)
    const li = document.createElement('li')
    li.append(...item.childNodes)
    list.append(li)
    item.remove()
  }
}

function clean(html: string): HTMLElement {
  const { body } = parseInert(html)
  for (const dropped of body.querySelectorAll([...droppedElements].join())) dropped.remove()
  for (const deep of body.querySelectorAll(`:scope${' > *'.repeat(depthMax)}`)) deep.replaceWith(deep.textContent ?? '')
  convertWordLists(body)
  return body
}

/** Reads stored HTML. */
export const readHtml = (html: string): Node => parser.parse(clean(html))

/** Reads pasted HTML: elements that the sanitiser would remove are replaced by their content. */
export const readSlice = (html: string, context: ResolvedPos): Slice => parser.parseSlice(clean(html), { context })

/** Counts what a format covers, because neighbours of one format are merged; other elements count once. */
function weightOf(element: Element, tag: string): number {
  if (!schema.marks[tag]) return 1
  const same = Object.keys(aliases).filter((alias) => aliases[alias] === tag)
  const isInner = element.parentElement?.closest([tag, ...same].join()) !== null
  return isInner ? 0 : (element.textContent?.replace(/\s+/g, '').length ?? 0) + element.querySelectorAll('img').length
}

/** Counts the elements, attributes and letters of HTML, except those that change only the spelling. */
function inventoryOf(html: string): Map<string, number> {
  const counts = new Map<string, number>()
  const add = (name: string, weight = 1) => counts.set(name, (counts.get(name) ?? 0) + weight)
  const { all, body } = parseInert(html)
  for (const element of all) {
    const { localName, attributes } = element
    const tag = aliases[localName] ?? localName
    const weight = weightOf(element, tag)
    if (!/^(html|head|body|p|br)$/.test(tag) && (tag !== 'span' || attributes.length > 0)) add(tag, weight)
    for (const { name, value } of attributes) if (value !== '' && name !== 'rel') add(`${tag} ${name}="${value}"`, weight)
  }
  for (const letter of body.textContent?.replace(/\s+/g, '') ?? '') add(`#${letter}`)
  return counts
}

/** Returns the element or attribute of an inventory's entry. */
const nameOf = (entry: string): string =>
  entry.startsWith('#')
    ? '…'
    : entry
        .replace(/^\S+ |=.*$/gs, '')
        .replace(styleAttribute, 'style')
        .replace(/^data-(?=on)/, '')

/** Returns the names of elements and attributes that the editor would remove from HTML. */
export function lossOf(html: string, doc: Node): readonly string[] {
  const remaining = inventoryOf(writeHtml(doc))
  const lost = [...inventoryOf(html)].filter(([name, count]) => count > (remaining.get(name) ?? 0)).map(([name]) => name)
  return [...new Set(lost.map(nameOf))]
}
