/** Elements, made so that what somebody wrote is text and nothing else: there is no innerHTML in this storefront. */

export type Child = Node | string | number | null | undefined | false | readonly Child[]
type Attributes = Readonly<Record<string, string | number | boolean | null | undefined | ((event: Event) => unknown)>>

/**
 * An element.
 * @param attributes by their names in HTML; a function is called on the event that its name says (`onclick`); true, false and null stand
 * for an attribute that is there or is not
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

/** Puts children at the end of an element. */
export function put(element: Element, children: Child): void {
  if (Array.isArray(children)) for (const child of children as readonly Child[]) put(element, child)
  else if (children instanceof Node) element.append(children)
  else if (children !== null && children !== undefined && children !== false) element.append(String(children))
}

/** Has an element hold these children and nothing else. */
export function refill(element: Element, ...children: Child[]): void {
  element.replaceChildren()
  put(element, children)
}

/** What may stand in a description, as an element of ours. Pictures and links to elsewhere are the shop's to add. */
const plainTags = new Set('p br ul ol li dl dt dd strong em b i u s sub sup blockquote pre code table thead tbody tr th td'.split(' '))
/** Of what is not shown, the text is not either. */
const silentTags = new Set(['script', 'style', 'template', 'title', 'noscript', 'iframe', 'svg'])

/** The elements of a text with markup: souk has sanitised it; here it is copied by an allowlist, without a single attribute. */
export function richText(html: string): Node[] {
  const { body } = new DOMParser().parseFromString(html, 'text/html')
  const copy = (node: Node): Node[] => {
    if (node instanceof Text) return [document.createTextNode(node.data)]
    if (!(node instanceof Element) || silentTags.has(node.localName)) return []
    const children = [...node.childNodes].flatMap(copy)
    // The page has its first heading already.
    const tag = /^h[1-6]$/.test(node.localName) ? 'h2' : node.localName
    if (tag !== 'h2' && !plainTags.has(tag)) return children
    const element = document.createElement(tag)
    element.append(...children)
    return [element]
  }
  return [...body.childNodes].flatMap(copy)
}
