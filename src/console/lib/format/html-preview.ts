/**
 * Shows user HTML safely: an inert parser reads it, and an allowlist copies it into a shadow root.
 * Nothing runs, loads from other hosts or affects the page.
 */
import { storedPicturePath } from './media-url.ts'

type Policy = { createHTML(html: string): string }
type Policies = { createPolicy(name: string, rules: Policy): Policy }

/** The only Trusted Types policy that the CSP allows. It feeds the inert parser alone. */
const policy: Policy =
  (globalThis as { trustedTypes?: Policies }).trustedTypes?.createPolicy('souk', { createHTML: (html) => html }) ??
  ({ createHTML: (html) => html } satisfies Policy)

const allowedElements = new Set(
  [
    'h1 h2 h3 h4 h5 h6 p br hr div span blockquote pre code ul ol li dl dt dd b strong i em u s bdi small sub sup mark a img figure figcaption',
    'table thead tbody tfoot tr th td caption colgroup col center font main section article header footer',
  ].flatMap((names) => names.split(' ')),
)
/** Dropped with their content. */
export const droppedElements: ReadonlySet<string> = new Set(
  'script style souk-sheet template noscript iframe object embed svg math title textarea select audio video head'.split(' '),
)
const copiedAttributes =
  'dir lang title alt width height colspan rowspan scope span align valign bgcolor border cellpadding cellspacing role'.split(' ')

/** Renames event handler attributes. They never run, but the browser reports each as a CSP violation. */
const disableEventHandlers = (html: string): string =>
  html.replace(/<[a-z][^>]*>/gi, (tag) => tag.replace(/([\s/"'])on(?=[a-z]+\s*=)/gi, '$1data-on'))

/** Stand-in names of `style` during parsing: the CSP forbids inline styles, and the browser reports each. */
export const styleAttribute = 'data-souk-look'
const styleElement = 'souk-sheet'
const renameStyles = (html: string): string =>
  html
    .replace(/<[a-z][^<>]*>/gi, (tag) => tag.replace(/([\s"'/])style(?=\s*=)/gi, `$1${styleAttribute}`))
    .replace(/<(\/?)style(?=[\s>/])/gi, `<$1${styleElement}`)

/**
 * Parses HTML in a document of its own: nothing runs or loads. `style` attributes are named `styleAttribute`, and
 * event handlers have other names.
 */
export const parseInert = (html: string): Document =>
  new DOMParser().parseFromString(policy.createHTML(disableEventHandlers(renameStyles(html))), 'text/html')

const roots = new WeakMap<Element, ShadowRoot>()

const baseStyle = `
  :host { display: block; overflow-wrap: anywhere; }
  img, table { max-width: 100%; }
  img { height: auto; }
  a { text-decoration: underline; color: inherit; }
  pre { white-space: pre-wrap; }
  .picture { padding: .1em .4em; border: 1px dashed currentColor; }
`

/**
 * Shows HTML in an element and replaces what it showed. Links do nothing; pictures of other hosts are shown as their
 * URLs.
 * @param styles applies the HTML's own styles, as for mails
 */
export function showHtml(host: Element, html: string, { styles = false }: { styles?: boolean } = {}): void {
  const parsed = parseInert(html)
  const root = roots.get(host) ?? host.attachShadow({ mode: 'closed' })
  roots.set(host, root)
  const texts = styles ? [...parsed.querySelectorAll(styleElement)].map(({ textContent }) => textContent ?? '') : []
  root.adoptedStyleSheets = [baseStyle, ...texts].map(createSheet)
  const container = document.createElement('div')
  if (styles) copyStyle(parsed.body, container)
  appendChildren(container, parsed.body, styles)
  root.replaceChildren(container)
}

function createSheet(text: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(text)
  return sheet
}

function appendChildren(to: Element, from: Element, styles: boolean): void {
  for (const node of from.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) to.append(node.textContent ?? '')
    else if (node instanceof Element) appendElement(to, node, styles)
  }
}

function appendElement(to: Element, from: Element, styles: boolean): void {
  const name = from.localName
  if (droppedElements.has(name)) return
  // Unknown elements are dropped, but their content stays.
  if (!allowedElements.has(name)) appendChildren(to, from, styles)
  else if (name === 'img' && storedPicturePath(from.getAttribute('src')) === undefined) to.append(createUrlText(from))
  else to.append(copyElement(from, styles))
}

function copyElement(from: Element, styles: boolean): HTMLElement {
  const name = from.localName
  const copy = document.createElement(name)
  for (const attribute of copiedAttributes) {
    const value = from.getAttribute(attribute)
    if (value !== null) copy.setAttribute(attribute, value)
  }
  if (copy instanceof HTMLImageElement) {
    copy.loading = 'lazy'
    copy.src = storedPicturePath(from.getAttribute('src')) ?? ''
  }
  if (name === 'a') copy.title = from.getAttribute('href') ?? ''
  if (styles) copyStyle(from, copy)
  appendChildren(copy, from, styles)
  return copy
}

function copyStyle(from: Element, to: HTMLElement): void {
  const style = from.getAttribute(styleAttribute)
  if (style !== null) to.style.cssText = style
  to.className = from.getAttribute('class') ?? ''
}

/** Shows a picture of another host as its URL. */
function createUrlText(picture: Element): HTMLElement {
  const text = document.createElement('span')
  text.className = 'picture'
  text.textContent = [picture.getAttribute('alt'), picture.getAttribute('src')].filter(Boolean).join(': ')
  return text
}
