/** The page for a missing file. Shows records that are newer than the last build. */
import { h } from '../dom.ts'
import { linkTo, openPage } from '../layout.ts'

const pages: Readonly<Record<string, string>> = { products: 'product', collections: 'products', blog: 'post', policies: 'policy' }
const [, folder = '', file = ''] = /([^/]+)\/([^/]+)\.html$/.exec(location.pathname) ?? []
const page = pages[folder]

if (page !== undefined) location.replace(linkTo(page, { handle: decodeURIComponent(file) }))
else
  void openPage(async ({ words, main, title }) => {
    main.append(title(words.notFound), h('p', {}, h('a', { href: linkTo('index'), class: 'button' }, words.toShop)))
  })
