/** Random documents of the console's editor, for property tests. */
import fc from 'fast-check'
import { type Attrs, Mark, type MarkType, type Node, type NodeType } from 'prosemirror-model'
import { schema } from '../../src/console/ui/rich-text/schema.ts'
import { allowedAttributes, isAllowedUrl, pictureSchemes } from '../../src/lib/html-rules.ts'

const pick = <Item>(gen: fc.GeneratorValue, items: readonly Item[]): Item => items[gen(fc.nat, items.length - 1)] as Item
const hostileTexts = fc.oneof(
  fc.constantFrom('a', ' b ', 'نص', 'текст', '<script>alert(1)</script>', '&amp;', '"\'', '\u00a0', '-->', '<![CDATA[', '</p>', '\n x'),
  fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }),
)
const urls = [
  'https://a.example/?b=1&c="2"',
  '/media/0123',
  'mailto:a@b.example',
  'tel:+1',
  '#x',
  'a b',
  "https://a.example/'<é>".replace('<', ''),
]

function attributes(gen: fc.GeneratorValue, type: NodeType | MarkType): Attrs {
  const names = [...(allowedAttributes[type.name] ?? []), 'lang', 'dir'].filter((name) => !['src', 'href', 'rel'].includes(name))
  const attrs: Record<string, string | null> = {}
  for (const name of names) attrs[name] = gen(fc.boolean) ? pick(gen, ['', 'rtl', '2', 'a "b" <c> & d']) : null
  if (type.name === 'img')
    attrs['src'] = pick(
      gen,
      urls.filter((url) => isAllowedUrl(url, pictureSchemes)),
    )
  if (type.name === 'a') Object.assign(attrs, { href: pick(gen, urls), rel: 'noopener noreferrer nofollow' })
  return attrs
}

/** Draws a random node of a type whose content the schema allows. */
function node(gen: fc.GeneratorValue, type: NodeType, texts: fc.Arbitrary<string>, depth: number): Node {
  if (type.isText) return schema.text(gen(() => texts))
  if (type.isLeaf) return type.create(attributes(gen, type))
  const children: Node[] = []
  let match = type.contentMatch
  const wanted = gen(fc.integer, { min: 0, max: 4 })
  while (children.length < wanted || !match.validEnd) {
    const options = Array.from({ length: match.edgeCount }, (_, at) => match.edge(at).type)
    const shallow = options.filter(({ isTextblock, isLeaf }) => isTextblock || isLeaf)
    const next = pick(gen, depth > 4 && shallow.length > 0 ? shallow : options)
    if (!next) break
    const marks = next.isInline ? Object.values(schema.marks).filter(() => gen(fc.integer, { min: 0, max: 5 }) === 0) : []
    const child = node(gen, next, texts, depth + 1)
    children.push(child.mark(marks.reduce((set, mark) => mark.create(attributes(gen, mark)).addToSet(set), Mark.none)))
    match = match.matchType(next) ?? match
  }
  return type.createChecked(type.name === 'p' ? { ...attributes(gen, type), bare: gen(fc.boolean) } : attributes(gen, type), children)
}

/** Documents of any elements that the schema allows, with hostile attributes. */
export const richDocuments = (texts = hostileTexts) => fc.gen().map((gen) => node(gen, schema.topNodeType, texts, 0))
