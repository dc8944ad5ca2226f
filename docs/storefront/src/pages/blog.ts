/** The posts of the shop, newest first. */
import { h } from '../dom.ts'
import { openPage, parameter } from '../layout.ts'
import { linkTo, recordLink } from '../navigation.ts'
import { picture } from '../pictures.ts'
import { askAsShopper } from '../session.ts'

const perPage = 12

void openPage(async (shown) => {
  const { words, main } = shown
  const page = Math.max(1, Number(parameter('page')) || 1)
  const { data, pages } = await askAsShopper('GET /blogs', { query: { page, limit: perPage } })
  const to = (other: number, label: string) => h('a', { href: linkTo('blog', { page: other }) }, label)
  main.append(
    shown.title(words.blog),
    data.length === 0
      ? h('p', {}, words.noPosts)
      : h(
          'ul',
          { class: 'posts' },
          data.map(({ slug, title, excerpt, coverImage, publishedAt }) =>
            h(
              'li',
              {},
              coverImage !== null && picture({ url: coverImage, alt: '' }, '', '(min-width: 60rem) 20rem, 100vw'),
              h('h2', {}, h('a', { href: recordLink('blog', slug) }, h('bdi', {}, title))),
              publishedAt !== null && h('p', { class: 'small' }, words.day(publishedAt)),
              excerpt !== null && h('p', { dir: 'auto' }, excerpt),
            ),
          ),
        ),
    h(
      'nav',
      { 'aria-label': words.pages, class: 'actions' },
      page > 1 && to(page - 1, words.previous),
      page < pages && to(page + 1, words.next),
    ),
  )
})
