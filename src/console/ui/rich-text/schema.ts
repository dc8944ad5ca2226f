/** The editor's document: the elements and attributes that the server's sanitiser keeps. */
import { type Attrs, type DOMOutputSpec, type MarkSpec, type NodeSpec, Schema, type TagParseRule } from 'prosemirror-model'
import { allowedAttributes, isAllowedUrl, linkRelation, linkSchemes, pictureSchemes } from '../../../lib/html-rules.ts'
import { styleAttribute } from '../../lib/format/html-preview.ts'
import { storedPicturePath } from '../../lib/format/media-url.ts'

const flow = '(p | block)+'

/** Content of each element that contains others. */
const contents: Readonly<Record<string, string>> = {
  p: 'inline*',
  ...Object.fromEntries(['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'pre'].map((tag) => [tag, 'inline*'])),
  ...{ ul: 'li+', ol: 'li+', li: flow, blockquote: flow, div: flow, figcaption: flow, figure: '(p | block | figcaption)+' },
  ...{ dl: '(dt | dd)+', dt: 'inline*', dd: flow },
  ...{ table: '(caption | colgroup | thead | tbody | tfoot)+', caption: 'inline*', colgroup: 'col+' },
  ...{ thead: 'tr+', tbody: 'tr+', tfoot: 'tr+', tr: '(td | th)+', td: flow, th: flow },
}
const blocks = new Set('h1 h2 h3 h4 h5 h6 pre hr ul ol blockquote div figure dl table'.split(' '))
const cells = new Set(['td', 'th', 'caption'])
/** Elements without content. */
export const voidTags: ReadonlySet<string> = new Set(['br', 'hr', 'img', 'col'])

/** Other tags of the same meaning. */
export const aliases: Readonly<Record<string, string>> = { b: 'strong', i: 'em', strike: 's', del: 's', ins: 'u' }
const tagsOf = (tag: string) => [tag, ...Object.keys(aliases).filter((alias) => aliases[alias] === tag)].join(', ')

/** Reads the attributes that the sanitiser keeps. It drops empty ones, except `alt`. */
function attributesOf(tag: string, from: HTMLElement): Attrs {
  const pairs = [...(allowedAttributes[tag] ?? []), 'lang', 'dir'].map((name) => [name, from.getAttribute(name)] as const)
  const attributes = pairs.filter(([name, value]) => value || (name === 'alt' && value !== null))
  return Object.fromEntries(attributes)
}

const attributeSpecs = (tag: string) =>
  Object.fromEntries([...(allowedAttributes[tag] ?? []), 'lang', 'dir'].map((name) => [name, { default: null, validate: 'string|null' }]))

const stringAttributes = (attrs: Attrs): Attrs => Object.fromEntries(Object.entries(attrs).filter(([, value]) => typeof value === 'string'))

function nodeOf(tag: string): NodeSpec {
  const content = contents[tag]
  return {
    ...(content !== undefined && { content }),
    ...(blocks.has(tag) && { group: 'block' }),
    ...(tag === 'pre' && { code: true, whitespace: 'pre' }),
    ...(cells.has(tag) && { isolating: true }),
    ...(tag === 'p' || tag === 'li' ? {} : { defining: true }),
    attrs: { ...attributeSpecs(tag), ...(tag === 'p' && { bare: { default: true } }) },
    parseDOM: [{ tag, getAttrs: (from) => ({ ...attributesOf(tag, from), ...(tag === 'p' && { bare: false }) }) }],
    toDOM: ({ attrs }): DOMOutputSpec => (voidTags.has(tag) ? [tag, stringAttributes(attrs)] : [tag, stringAttributes(attrs), 0]),
  }
}

/**
 * A picture. The page may not load those of other hosts, so `data-src` has the stored URL.
 */
const picture: NodeSpec = {
  inline: true,
  group: 'inline',
  draggable: true,
  attrs: attributeSpecs('img'),
  parseDOM: [
    {
      tag: 'img',
      getAttrs(from) {
        const src = from.getAttribute('data-src') ?? from.getAttribute('src') ?? ''
        return isAllowedUrl(src, pictureSchemes) && { ...attributesOf('img', from), src }
      },
    },
  ],
  toDOM({ attrs: { src, ...attrs } }) {
    const path = storedPicturePath(src, 640)
    // Screen readers skip a picture without a description; the text itself is written by `write-html.ts`.
    return ['img', { alt: '', ...stringAttributes(attrs), 'data-src': src, ...(path !== undefined && { src: path }) }]
  },
}

/** Reads a format from the styles of a `span`, as Google Docs writes it. */
const styled = (pattern: RegExp): TagParseRule => ({
  tag: `span[${styleAttribute}]`,
  consuming: false,
  getAttrs: (from: HTMLElement) => pattern.test(from.getAttribute(styleAttribute) ?? '') && null,
})
const styleRules: Readonly<Record<string, TagParseRule>> = {
  strong: styled(/font-weight:\s*(bold|[6-9]00)/),
  em: styled(/font-style:\s*italic/),
  u: styled(/text-decoration[\w-]*:[^;]*underline/),
  s: styled(/text-decoration[\w-]*:[^;]*line-through/),
  sub: styled(/vertical-align:\s*sub/),
  sup: styled(/vertical-align:\s*super/),
}

/** Google Docs wraps what it copies in `<b style="font-weight:normal">`. */
const isNormal = (from: HTMLElement) => /font-weight:\s*(normal|400)/.test(from.getAttribute(styleAttribute) ?? '')

function markOf(tag: string): MarkSpec {
  const styles = styleRules[tag]
  return {
    attrs: attributeSpecs(tag),
    parseDOM: [
      { tag: tagsOf(tag), getAttrs: (from: HTMLElement) => !isNormal(from) && attributesOf(tag, from) },
      ...(styles ? [styles] : []),
    ],
    toDOM: ({ attrs }) => [tag, stringAttributes(attrs)],
  }
}

const link: MarkSpec = {
  ...markOf('a'),
  inclusive: false,
  parseDOM: [
    {
      tag: 'a[href]',
      getAttrs: (from) => isAllowedUrl(from.getAttribute('href') ?? '', linkSchemes) && { ...attributesOf('a', from), rel: linkRelation },
    },
  ],
}

const span: MarkSpec = {
  ...markOf('span'),
  parseDOM: [{ tag: 'span[lang], span[dir]', getAttrs: (from: HTMLElement) => attributesOf('span', from) }],
}

const formats = ['strong', 'em', 'u', 's', 'small', 'sub', 'sup', 'mark', 'code']

export const schema = new Schema({
  nodes: {
    doc: { content: flow },
    ...Object.fromEntries([...Object.keys(contents), 'hr', 'col'].map((tag) => [tag, nodeOf(tag)])),
    text: { group: 'inline' },
    br: { ...nodeOf('br'), inline: true, group: 'inline', selectable: false, linebreakReplacement: true },
    img: picture,
  },
  marks: { a: link, ...Object.fromEntries(formats.map((tag) => [tag, markOf(tag)])), span },
})
