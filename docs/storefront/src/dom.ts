/** Creates elements without innerHTML, so that text of others cannot become markup. */

export type Child = Node | string | number | null | undefined | false | readonly Child[]
type Attributes = Readonly<Record<string, string | number | boolean | null | undefined | ((event: Event) => unknown)>>

/**
 * Creates an element.
 * @param attributes by their names in HTML. Functions are event listeners (`onclick`). true sets an attribute; false
 * and null leave it out
 */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.replace(/^on/, ''), value)
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : String(value))
  }
  put(element, children)
  return element
}

/** Appends children to an element. */
export function put(element: Element, children: Child): void {
  if (Array.isArray(children)) for (const child of children as readonly Child[]) put(element, child)
  else if (children instanceof Node) element.append(children)
  else if (children !== null && children !== undefined && children !== false) element.append(String(children))
}

/** Replaces the children of an element. */
export function refill(element: Element, ...children: Child[]): void {
  element.replaceChildren()
  put(element, children)
}

/** Allowed elements of a description. To show pictures and external links, add them. */
const plainTags = new Set('p br ul ol li dl dt dd strong em b i u s sub sup blockquote pre code table thead tbody tr th td'.split(' '))
/** Elements that are removed with their text. */
const silentTags = new Set(['script', 'style', 'template', 'title', 'noscript', 'iframe', 'svg'])

/** Copies a text with markup, which souk sanitised, by an allowlist of elements and without attributes. */
export function richText(html: string): Node[] {
  const { body } = new DOMParser().parseFromString(html, 'text/html')
  const copy = (node: Node): Node[] => {
    if (node instanceof Text) return [document.createTextNode(node.data)]
    if (!(node instanceof Element) || silentTags.has(node.localName)) return []
    const children = [...node.childNodes].flatMap(copy)
    // The page already has an h1.
    const tag = /^h[1-6]$/.test(node.localName) ? 'h2' : node.localName
    if (tag !== 'h2' && !plainTags.has(tag)) return children
    const element = document.createElement(tag)
    element.append(...children)
    return [element]
  }
  return [...body.childNodes].flatMap(copy)
}
