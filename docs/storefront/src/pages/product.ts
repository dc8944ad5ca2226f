/** A product with its pictures, variants and quantity. */
import { ask, type Schema, shopName } from '../api.ts'
import { addToCart, quantityMax } from '../cart.ts'
import { h, refill, richText } from '../dom.ts'
import { field, form, select, typed } from '../form.ts'
import { gallery } from '../gallery.ts'
import type { Words } from '../i18n.ts'
import { linkTo, openPage, type Shown } from '../layout.ts'
import { pageHandle } from '../navigation.ts'

type Product = Schema<'PublicProduct'>
type Variant = Schema<'PublicVariant'>

void openPage(async (shown) => {
  const { main, words } = shown
  const product = await ask('GET /product-v2/public/shop/{shopName}/handle/{handle}', { path: { shopName, handle: pageHandle() } })
  const pictures = gallery(product, words)
  main.append(
    h(
      'article',
      { class: 'product' },
      pictures.element,
      h(
        'div',
        {},
        shown.title(product.title),
        buying(product, shown, pictures.show),
        h('div', { dir: 'auto' }, richText(product.descriptionHtml)),
      ),
    ),
  )
})

/**
 * Price, options and button. The selected variant determines price and stock.
 * @param showPicture shows the picture of the chosen variant
 */
function buying(product: Product, shown: Shown, showPicture: (imageId: string | null) => void): HTMLElement {
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
        showPicture(chosen()?.imageId ?? null)
      },
    }),
  )
  show()
  return form(
    {
      words,
      submit: words.add,
      beside: h('a', { href: linkTo('cart') }, words.toCart),
      async onSubmit(sent, say) {
        const variant = chosen()
        if (!variant) return say(words.noSuchChoice)
        const cart = await addToCart(variant.id, Number(typed(sent, 'quantity')))
        shown.counted(cart)
        say(words.added)
      },
    },
    standing,
    // A product with one variant needs no options.
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
