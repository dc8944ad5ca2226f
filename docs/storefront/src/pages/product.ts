/** One product: its pictures, its variants, and how many of one to put into the cart. */
import { ask, type Schema, shopName } from '../api.ts'
import { addToCart, quantityMax } from '../cart.ts'
import { h, refill, richText } from '../dom.ts'
import { field, form, select, typed } from '../form.ts'
import { linkTo, openPage, parameter, type Shown } from '../layout.ts'
import { picture } from '../pictures.ts'
import type { Words } from '../words.ts'

type Product = Schema<'PublicProduct'>
type Variant = Schema<'PublicVariant'>

void openPage(async (shown) => {
  const { main } = shown
  const product = await ask('GET /product-v2/public/shop/{shopName}/handle/{handle}', { path: { shopName, handle: parameter('handle') } })
  main.append(
    h(
      'article',
      { class: 'product' },
      pictures(product),
      h('div', {}, shown.title(product.title), buying(product, shown), h('div', { dir: 'auto' }, richText(product.descriptionHtml))),
    ),
  )
})

const pictures = ({ images, title }: Product): HTMLElement =>
  h(
    'ul',
    { class: 'pictures' },
    images.map((image) => h('li', {}, picture(image, title, '(min-width: 60rem) 30rem, 100vw'))),
  )

/** Price, choice and button. What is chosen decides the price and how many there are. */
function buying(product: Product, shown: Shown): HTMLElement {
  const { words } = shown
  const [first] = product.variants.filter(({ available }) => available)
  let values = [...((first ?? product.variants[0])?.optionValues ?? [])]
  const standing = h('p', { class: 'price', 'aria-live': 'polite' })
  const chosen = (): Variant | undefined =>
    product.variants.find(({ optionValues }) => optionValues.every((value, nth) => value === values[nth]))
  const show = () => refill(standing, ...said(chosen(), words))
  const choices = product.options.map((option, nth) =>
    select({
      label: option.name,
      name: `option-${nth}`,
      value: values[nth] ?? '',
      choices: option.values.map((value) => ({ value, label: value })),
      onchange(value) {
        values = values.with(nth, value)
        show()
      },
    }),
  )
  show()
  return form(
    {
      words,
      submit: words.add,
      beside: h('a', { href: linkTo('cart') }, words.toBasket),
      async onSubmit(sent) {
        const variant = chosen()
        if (!variant) return shown.say(words.noSuchChoice)
        const cart = await addToCart(variant.id, Number(typed(sent, 'quantity')))
        shown.counted(cart)
        shown.say(words.added)
      },
    },
    standing,
    // Of what there is one kind of, there is nothing to choose.
    product.variants.length > 1 && choices,
    field({
      label: words.quantity,
      name: 'quantity',
      type: 'number',
      min: 1,
      max: quantityMax,
      step: 1,
      value: 1,
      required: true,
      inputmode: 'numeric',
    }),
  )
}

function said(variant: Variant | undefined, words: Words): (Node | string)[] {
  if (!variant) return [words.noSuchChoice]
  const { price, compareAtPrice, available, quantityAvailable } = variant
  const before = compareAtPrice ? [' ', h('s', {}, h('span', { class: 'unseen' }, words.before), ' ', words.money(compareAtPrice))] : []
  const left = typeof quantityAvailable === 'number' && available ? [' · ', words.left(quantityAvailable)] : []
  return [words.money(price), ...before, ...(available ? left : [' · ', words.soldOut])]
}
