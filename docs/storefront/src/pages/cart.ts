/** The cart page. Each change returns the whole cart, which is drawn again. */
import {
  applyGiftCard,
  type Cart,
  currentCart,
  quantityMax,
  removeGiftCard,
  removeLine,
  setDiscount,
  setQuantity,
  setRecipient,
} from '../cart.ts'
import { type Child, h, refill } from '../dom.ts'
import { action, field, form, typed } from '../form.ts'
import { linkTo, openPage, type Shown } from '../layout.ts'
import { picture } from '../pictures.ts'
import { cartSums, nameOf } from '../summary.ts'

void openPage(async (shown) => draw(await currentCart(), shown))

function draw(cart: Cart | null, shown: Shown): void {
  const { words, main } = shown
  const heading = shown.title(words.yourCart)
  if (cart?.status === 'CONVERTED') {
    refill(main, heading, h('p', {}, words.waits), h('p', {}, h('a', { href: linkTo('checkout'), class: 'button' }, words.toPayment)))
    return
  }
  if (!cart || cart.lines.length === 0) {
    refill(main, heading, h('p', {}, words.empty), h('p', {}, h('a', { href: linkTo('index'), class: 'button' }, words.toShop)))
    return
  }
  refill(
    main,
    heading,
    h(
      'ul',
      { class: 'cart' },
      cart.lines.map((line) => h('li', {}, pictureOf(line), h('div', {}, lineOf(line, cart, shown)))),
    ),
    cart.notices.map(({ code, message }) => h('p', { class: 'notice' }, words.notices[code]?.(message) ?? message)),
    cart.lines.some(({ giftCard }) => giftCard) && recipient(cart, shown),
    codes(cart, shown),
    cartSums(cart, words),
    h('p', { class: 'actions' }, h('a', { href: linkTo('checkout'), class: 'button' }, words.toCheckout)),
  )
}

/** Draws the changed cart. Moves the focus to the heading, because its element was redrawn. */
async function change(shown: Shown, doing: Promise<Cart>): Promise<void> {
  const cart = await doing
  shown.counted(cart)
  draw(cart, shown)
  shown.say(shown.words.changed(shown.words.money(cart.totals.amountDue)))
  const heading = shown.main.querySelector('h1')
  heading?.setAttribute('tabindex', '-1')
  heading?.focus()
}

/** The line's picture. Its alt text is empty, because the name is next to it. */
const pictureOf = ({ imageUrl }: Cart['lines'][number]): Child =>
  h('span', { class: 'frame' }, imageUrl !== null && picture({ url: imageUrl, alt: '' }, '', '6rem'))

function lineOf(line: Cart['lines'][number], cart: Cart, shown: Shown): Child {
  const { words } = shown
  return [
    h('h2', { class: 'name' }, nameOf(line, words)),
    !line.available && h('p', { class: 'problem' }, words.unavailable),
    form(
      {
        words,
        submit: words.change,
        label: words.changeOf(line.title ?? words.gone),
        class: 'row',
        onSubmit: (values) => change(shown, setQuantity(cart.id, line.id, Number(typed(values, 'quantity')))),
        beside: action(words, words.remove, () => change(shown, removeLine(cart.id, line.id)), {
          'aria-label': words.removeOf(line.title ?? words.gone),
        }),
      },
      field({
        label: words.quantity,
        name: 'quantity',
        type: 'number',
        min: 1,
        max: quantityMax,
        step: 1,
        value: line.quantity,
        required: true,
        inputmode: 'numeric',
      }),
    ),
    h('p', { class: 'price' }, words.money(line.total)),
  ]
}

/** Whom the gift cards of the cart are mailed to. Without an e-mail address: the buyer. */
function recipient(cart: Cart, shown: Shown): Child {
  const { words } = shown
  const { email = '', name, message } = cart.giftCardRecipient ?? {}
  const values = { email, name: name ?? '', message: message ?? '' }
  return h(
    'section',
    { 'aria-label': words.giftRecipient },
    h('h2', {}, words.giftRecipient),
    h('p', {}, words.giftRecipientHint),
    form(
      {
        words,
        submit: words.change,
        label: words.giftRecipient,
        onSubmit: (form) => {
          const to = { email: typed(form, 'email'), name: typed(form, 'name'), message: typed(form, 'message') }
          return change(shown, setRecipient(cart.id, to.email === '' ? null : to))
        },
      },
      field({ label: words.email, name: 'email', type: 'email', maxlength: 254, value: values.email, autocomplete: 'off' }),
      field({ label: words.name, name: 'name', maxlength: 100, value: values.name, autocomplete: 'off' }),
      field({ label: words.giftMessage, name: 'message', maxlength: 500, value: values.message, autocomplete: 'off' }),
    ),
  )
}

function codes(cart: Cart, shown: Shown): Child {
  const { words } = shown
  const { discounts, discountCode, giftCards } = cart
  return h(
    'div',
    { class: 'codes' },
    h(
      'section',
      { 'aria-label': words.discount },
      discounts.map(({ title, amount }) => h('p', {}, h('bdi', {}, title), ' ', amount.amount > 0 && `−${words.money(amount)}`)),
      discountCode === null
        ? form(
            {
              words,
              submit: words.apply,
              label: words.discount,
              class: 'row',
              refusals: { 404: words.noSuchCode },
              onSubmit: (values) => change(shown, setDiscount(cart.id, typed(values, 'code'))),
            },
            codeField(words.discountCode),
          )
        : h(
            'p',
            {},
            h('code', { dir: 'ltr' }, discountCode),
            ' ',
            action(words, words.remove, () => change(shown, setDiscount(cart.id, null)), { 'aria-label': words.removeOf(discountCode) }),
          ),
    ),
    h(
      'section',
      { 'aria-label': words.giftCards },
      giftCards.map(({ id, last4, amount }) =>
        h(
          'p',
          {},
          h('span', { dir: 'ltr' }, `•••• ${last4}`),
          ` −${words.money(amount)} `,
          action(words, words.remove, () => change(shown, removeGiftCard(cart.id, id)), { 'aria-label': words.removeOf(last4) }),
        ),
      ),
      form(
        {
          words,
          submit: words.apply,
          label: words.giftCards,
          class: 'row',
          refusals: { 404: words.noSuchCode },
          onSubmit: (values) => change(shown, applyGiftCard(cart.id, typed(values, 'code'))),
        },
        codeField(words.giftCardCode),
      ),
    ),
  )
}

/** Fields for codes turn off automatic correction. */
function codeField(label: string): Child {
  return field({ label, name: 'code', required: true, maxlength: 50, autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' })
}
