/** The HTML of a page, from `shell.html`. */
import { join } from 'node:path'
import type { Navigation } from './src/navigation.ts'

export type Storefront = {
  /** The URL of souk, such as `https://api.example`. */
  readonly souk: string
  /** The name of the shop. */
  readonly shop: string
  /** Origins of pictures besides souk. */
  readonly images?: readonly string[]
  /** The URL of the storefront: `https://shop.example/`. Search engines and link previews need absolute URLs. */
  readonly url?: string
}

/** The fields of `shell.html`. `head` and `body` are HTML; everything else is text. */
export type Page = {
  /** The file of `src/pages` that draws the page. */
  readonly script: string
  readonly title: string
  /** `../` for a page in a folder. */
  readonly root?: string
  readonly handle?: string
  readonly language?: string
  readonly direction?: string
  readonly head?: string
  readonly body?: string
}

/** Escapes a text for HTML: for elements and for attributes in double quotes. */
export const escapeHtml = (text: string): string => text.replace(/[&"<]/g, (one) => `&#${one.charCodeAt(0)};`)

/** The content security policy: a page loads from its own origin and from souk, and runs nothing inline. */
const policyOf = ({ souk, images = [] }: Storefront): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data: ${[new URL(souk).origin, ...images].join(' ')}`,
    `connect-src ${new URL(souk).origin}`,
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ')

const shell = await Bun.file(join(import.meta.dir, 'shell.html')).text()
const languageInShell = 'lang="en" dir="ltr"'

/** Returns the HTML of a page. Values are not expanded again, so braces in a product's title stay unchanged. */
export function htmlOf(storefront: Storefront, navigation: Navigation, page: Page): string {
  const values: Record<string, string> = {
    root: '',
    handle: '',
    ...page,
    souk: storefront.souk,
    shop: storefront.shop,
    policy: policyOf(storefront),
    navigation: JSON.stringify(navigation),
  }
  const { language = 'en', direction = 'ltr' } = page
  const translated = shell.replace(languageInShell, `lang="${language}" dir="${direction}"`)
  return translated.replace(/\{\{\{(\w+)\}\}\}|\{\{(\w+)\}\}/g, (_, html: string | undefined, text: string | undefined) =>
    html ? (values[html] ?? '') : escapeHtml(values[text ?? ''] ?? ''),
  )
}
