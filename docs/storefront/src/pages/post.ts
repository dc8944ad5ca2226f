/** One post of the blog. */
import { ask } from '../api.ts'
import { h, put, richText } from '../dom.ts'
import { openPage } from '../layout.ts'
import { pageHandle } from '../navigation.ts'
import { picture } from '../pictures.ts'

void openPage(async (shown) => {
  const { words, main } = shown
  const { title, author, publishedAt, coverImage, bodyHtml } = await ask('GET /blogs/public/{slug}', { path: { slug: pageHandle() } })
  put(
    main,
    h(
      'article',
      { class: 'text' },
      shown.title(title),
      h(
        'p',
        { class: 'small' },
        [publishedAt === null ? '' : words.day(publishedAt), author ?? ''].filter(Boolean).map((part) => h('bdi', {}, part, ' ')),
      ),
      coverImage !== null && picture({ url: coverImage, alt: '' }, '', '(min-width: 48rem) 44rem, 100vw', 'eager'),
      h('div', { dir: 'auto' }, richText(bodyHtml)),
    ),
  )
})
