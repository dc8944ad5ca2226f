/** The customer's account and orders. */
import type { Schema } from '../api.ts'
import { type Child, h, put, refill } from '../dom.ts'
import { action, field, form, tick, typed } from '../form.ts'
import { linkTo, openPage, parameter, type Shown } from '../layout.ts'
import { askAsCustomer, logOut } from '../session.ts'

void openPage(
  async (shown) => {
    const { words, main } = shown
    const page = Math.max(1, Number(parameter('page')) || 1)
    const [me, orders] = await Promise.all([
      askAsCustomer('GET /customer/me', {}),
      askAsCustomer('GET /customer/me/orders', { query: { page, limit: 20 } }),
    ])
    const leave = action(words, words.logOut, async () => {
      await logOut()
      location.assign(linkTo('index'))
    })
    put(main, [
      shown.title(words.account),
      h('p', {}, h('bdi', {}, me.email), ' · ', leave),
      proof(me, shown),
      h('section', {}, h('h2', {}, words.orders), list(orders.data, shown), paging(orders, shown)),
      h('p', {}, h('a', { href: linkTo('addresses') }, words.addresses)),
      h('section', {}, h('h2', {}, words.aboutYou), profile(me, shown)),
    ])
  },
  { isPrivate: true },
)

/** Guest orders are added once the address is verified. */
function proof({ emailVerified }: Schema<'OwnCustomer'>, { words }: Shown): HTMLElement | undefined {
  if (emailVerified) return undefined
  const place = h('p', { class: 'notice' }, words.unproven, ' ')
  place.append(
    action(words, words.sendLink, async () => {
      await askAsCustomer('POST /customer/verify/send', {})
      refill(place, h('span', { role: 'status' }, words.linkSent))
    }),
  )
  return place
}

function list(orders: readonly Schema<'Order'>[], { words }: Shown): Child {
  if (orders.length === 0) return h('p', {}, words.noOrders)
  return h(
    'ul',
    { class: 'lines' },
    orders.map(({ number, createdAt, status, total, publicUrl }) =>
      h(
        'li',
        {},
        h(
          'span',
          {},
          h('a', { href: linkTo('order', { token: publicUrl?.split('/').at(-1) }) }, words.orderNumber(number)),
          ' ',
          h('span', { class: 'small' }, words.day(createdAt), ' · ', words.standings[status]),
        ),
        h('span', {}, words.money(total)),
      ),
    ),
  )
}

const paging = ({ page, pages }: { page: number; pages: number }, { words }: Shown): Child =>
  pages > 1 &&
  h(
    'nav',
    { 'aria-label': words.pages, class: 'actions' },
    page > 1 && h('a', { href: linkTo('account', { page: page - 1 }) }, words.previous),
    h('span', {}, words.pageOf(page, pages)),
    page < pages && h('a', { href: linkTo('account', { page: page + 1 }) }, words.next),
  )

const profile = (me: Schema<'OwnCustomer'>, { words }: Shown): HTMLElement =>
  form(
    {
      words,
      submit: words.save,
      async onSubmit(values, say) {
        const phone = typed(values, 'phone') || null
        await askAsCustomer('PATCH /customer/me', {
          body: { name: typed(values, 'name'), phone, acceptsMarketing: values.has('acceptsMarketing') },
        })
        say(words.saved)
      },
    },
    field({ label: words.name, name: 'name', maxlength: 200, autocomplete: 'name', value: me.name }),
    field({ label: words.phone, name: 'phone', type: 'tel', maxlength: 40, autocomplete: 'tel', value: me.phone }),
    tick({ label: words.marketing, name: 'acceptsMarketing', checked: me.acceptsMarketing }),
  )
