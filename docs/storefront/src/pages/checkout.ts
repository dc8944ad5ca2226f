/** The checkout: contact, address, shipping method and payment. Completed steps can be changed. */
import { addressText } from '../address.ts'
import { ask, Refused, type Schema, shopName } from '../api.ts'
import { type Cart, currentCart, forgetCart, keepOrder, orderOf } from '../cart.ts'
import { contactStep } from '../contact.ts'
import { type Child, h, refill } from '../dom.ts'
import { action, form, radios, typed } from '../form.ts'
import { addressOf, linkTo, openPage, type Shown, section } from '../layout.ts'
import { libraries } from '../libraries.ts'
import { buy, pause, standing, takeBack, unfinished } from '../payment.ts'
import { type Choice, type Next, nextOf, waysToPay } from '../payment-methods.ts'
import { askAsShopper } from '../session.ts'
import { cartSums, instructionsOf, linesList } from '../summary.ts'

void openPage(async (shown) => {
  const cart = await currentCart()
  const halfway = cart ? unfinished(cart.id) : undefined
  // The page was reloaded during a checkout: the same key repeats the request without a second order.
  if (cart && halfway) await pay(cart, halfway, shown).catch((error: unknown) => refused(error, shown))
  else if (cart?.status === 'CONVERTED') await comeBack(cart, shown)
  else await fillIn(cart, shown)
})

/** Draws the first incomplete step. */
async function fillIn(cart: Cart | null, shown: Shown, isToChange = false): Promise<void> {
  const { words, main } = shown
  const heading = shown.title(words.checkout)
  if (!cart || cart.lines.length === 0)
    return refill(main, heading, h('p', {}, words.empty), h('p', {}, h('a', { href: linkTo('index'), class: 'button' }, words.toShop)))
  const offer = await askAsShopper('GET /cart/{id}/shipping-options', { path: { id: cart.id } })
  const isShipped = offer.reason !== 'NOTHING_TO_SHIP'
  const steps =
    cart.email === null || (isShipped && !cart.shippingAddress?.line1) || isToChange
      ? [await contactStep(cart, shown, { isShipped, done: (changed) => draw(changed, shown) })]
      : [whoAndWhere(cart, shown, isShipped), ...(await shippingAndPayment(cart, offer, shown))]
  refill(main, heading, h('div', { class: 'checkout' }, h('div', {}, steps), summary(cart, shown)))
}

const summary = (cart: Cart, { words }: Shown): Child =>
  h(
    'aside',
    { 'aria-label': words.yourCart },
    linesList(cart.lines, words),
    cartSums(cart, words),
    cart.status === 'OPEN' && h('p', {}, h('a', { href: linkTo('cart') }, words.editCart)),
  )

/** Continues after the shopper returned. Does not redirect immediately. */
async function comeBack(cart: Cart, shown: Shown): Promise<void> {
  const next = nextOf(await standing(cart.id))
  if (next.kind !== 'elsewhere') return goOn(next, cart, shown)
  const { words, main } = shown
  refill(
    main,
    shown.title(words.payment),
    h('p', {}, words.waits),
    h('p', { class: 'actions' }, h('a', { href: next.url, class: 'button' }, words.toPayment), giveUp(cart, shown)),
  )
  return untilDecided(cart, shown)
}

/** Cancels the unpaid order, so that the cart can be changed. */
const giveUp = (cart: Cart, { words }: Shown): HTMLElement =>
  action(words, words.editCart, async () => {
    await takeBack(cart.id)
    location.assign(linkTo('cart'))
  })

/** Redraws the page, because every step can change prices. */
async function draw(doing: Promise<Cart>, shown: Shown): Promise<void> {
  const cart = await doing
  shown.counted(cart)
  await fillIn(cart, shown)
  focusOn(shown.main.querySelector<HTMLElement>('section:last-of-type h2'))
}

function focusOn(element: HTMLElement | null): void {
  element?.setAttribute('tabindex', '-1')
  element?.focus()
}

function whoAndWhere(cart: Cart, shown: Shown, isShipped: boolean): HTMLElement {
  const { words } = shown
  const changing = action(words, words.edit, async () => {
    await fillIn(cart, shown, true)
    focusOn(shown.main.querySelector<HTMLElement>('section h2'))
  })
  return section(
    isShipped ? words.whereTo : words.contact,
    h('p', {}, h('bdi', {}, cart.email ?? '')),
    isShipped && cart.shippingAddress && addressText(cart.shippingAddress, words),
    h('p', {}, changing),
  )
}

async function shippingAndPayment(cart: Cart, { data: options, reason }: Schema<'ShippingOptions'>, shown: Shown): Promise<HTMLElement[]> {
  const { words } = shown
  const isReady = reason === 'NO_METHODS' || reason === 'NOTHING_TO_SHIP' || options.some(({ code }) => code === cart.shippingMethod)
  const shipping =
    options.length === 0
      ? section(
          words.shipping,
          h('p', {}, isReady ? (reason === 'NOTHING_TO_SHIP' ? words.nothingToShip : words.freeShipping) : words.notSentThere),
        )
      : section(
          words.shipping,
          form(
            {
              words,
              submit: words.goOn,
              onSubmit: (values) =>
                draw(
                  askAsShopper('PATCH /cart/{id}', { path: { id: cart.id }, body: { shippingMethod: typed(values, 'shippingMethod') } }),
                  shown,
                ),
            },
            radios(
              'shippingMethod',
              words.shipping,
              options.map(({ code, title, amount }) => ({
                value: code,
                label: [h('bdi', {}, title), ' · ', amount.amount === 0 ? words.free : words.money(amount)],
              })),
              cart.shippingMethod ?? options[0]?.code,
            ),
          ),
        )
  return isReady ? [shipping, await payment(cart, shown)] : [shipping]
}

async function payment(cart: Cart, shown: Shown): Promise<HTMLElement> {
  const { words, shop } = shown
  const pays = words.pay(words.money(cart.totals.amountDue))
  if (cart.totals.amountDue.amount === 0)
    return section(words.payment, form({ words, submit: words.order, onSubmit: (_, say) => pay(cart, { method: 'card' }, shown, say) }))
  const resolved = await ask('GET /checkout/{shopUrl}/payment-intent-resolver', { path: { shopUrl: shopName } })
  const ways = waysToPay(resolved, shop.publishableKey, addressOf('checkout'), words)
  if (ways.length === 0) return section(words.payment, h('p', {}, words.noWayToPay))
  const all = ways.map(({ label }, nth) => ({ value: String(nth), label }))
  const chosen = (values: FormData) => ways[Number(typed(values, 'way'))]
  const options = form(
    {
      words,
      submit: pays,
      async onSubmit(values, say) {
        const way = chosen(values)
        if (way) await pay(cart, way.choice, shown, say).catch((error: unknown) => refused(error, shown))
      },
    },
    radios('way', words.payment, all, '0'),
  )
  // A manual payment is made after the order, so its button does not pay.
  const nameButton = () => {
    const button = options.querySelector('button')
    if (button) button.textContent = chosen(new FormData(options))?.choice.method === 'manual' ? words.order : pays
  }
  options.addEventListener('change', nameButton)
  nameButton()
  return section(words.payment, options)
}

/** @param say shows the shopper that the payment is in progress, below the pressed button */
async function pay(cart: Cart, choice: Choice, shown: Shown, say = shown.say): Promise<void> {
  say(shown.words.paying)
  const answer = await buy(cart, choice)
  keepOrder(cart.id, answer.order.publicUrl)
  await goOn(nextOf(answer), cart, shown)
}

/** Redraws a cart that changed. The error message says what changed. */
async function refused(error: unknown, shown: Shown): Promise<void> {
  if (!(error instanceof Refused && error.status === 409)) throw error
  shown.say('')
  const cart = await currentCart()
  if (cart?.status === 'CONVERTED') return comeBack(cart, shown)
  await fillIn(cart, shown)
  warn(shown, h('span', { lang: 'en', dir: 'ltr' }, error.message))
}

function warn({ main }: Shown, text: Child): void {
  const warning = h('div', { role: 'alert', class: 'problem', tabindex: -1 }, h('p', {}, text))
  main.querySelector('h1')?.after(warning)
  warning.focus()
}

async function goOn(next: Next, cart: Cart, shown: Shown): Promise<void> {
  const { words, main } = shown
  const heading = shown.title(words.payment)
  switch (next.kind) {
    case 'paid': {
      const token = orderOf(cart.id)
      forgetCart()
      if (token !== '') return location.replace(linkTo('order', { token }))
      // The response with the link was lost; the e-mail has it too.
      return refill(main, heading, h('p', { class: 'standing' }, words.standings.CONFIRMED))
    }
    case 'manual': {
      const token = orderOf(cart.id)
      forgetCart()
      // The page of the order says how to pay, too.
      return token === '' ? refill(main, heading, instructionsOf(next)) : location.replace(linkTo('order', { token }))
    }
    case 'over':
      forgetCart()
      return refill(
        main,
        heading,
        h('p', {}, words.orderOver),
        h('p', {}, h('a', { href: linkTo('index'), class: 'button' }, words.toShop)),
      )
    case 'elsewhere':
      return location.assign(next.url)
    case 'declined': {
      shown.say('')
      // The cart is an order now, and its amount no longer changes.
      const ordered = (await currentCart()) ?? cart
      refill(
        main,
        heading,
        h(
          'div',
          { class: 'checkout' },
          h('div', {}, await payment(ordered, shown), h('p', {}, giveUp(cart, shown))),
          summary(ordered, shown),
        ),
      )
      return warn(shown, words.declined)
    }
    case 'library': {
      const library = libraries[next.processor]
      const place = h('div', {})
      refill(main, heading, place, h('p', {}, giveUp(cart, shown)))
      if (!library) return refill(place, words.noLibrary(next.processor))
      await library(next.parameters, place)
      return goOn(nextOf(await standing(cart.id)), cart, shown)
    }
    case 'banks':
      refill(
        main,
        heading,
        h('p', {}, words.scan),
        h('img', { src: next.image, alt: words.qrCode, width: 240, height: 240 }),
        h(
          'ul',
          {},
          next.banks.map(({ name, link }) => h('li', {}, h('a', { href: link, rel: 'noreferrer' }, h('bdi', {}, name)))),
        ),
        h('p', {}, giveUp(cart, shown)),
      )
      return untilDecided(cart, shown)
    case 'deciding':
      refill(main, heading, h('p', { role: 'status' }, words.deciding))
      return untilDecided(cart, shown)
  }
}

const waiting: ReadonlySet<Next['kind']> = new Set(['deciding', 'elsewhere', 'banks'])
const firstPauseMs = 2_000
const pauseMaxMs = 60_000

/** Polls the payment with increasing pauses. souk continues without the page. */
async function untilDecided(cart: Cart, shown: Shown): Promise<void> {
  for (let ms = firstPauseMs; ; ms = Math.min(pauseMaxMs, ms * 1.5)) {
    await pause(ms)
    const answer = await standing(cart.id).catch(nothingYet)
    if (!answer) continue
    const next = nextOf(answer)
    if (!waiting.has(next.kind)) return goOn(next, cart, shown)
  }
}

/** Retries, because a phone can lose its connection while the bank's app is open. */
function nothingYet(error: unknown): undefined {
  const isForNow = error instanceof Refused && (error.status === 0 || error.status === 429 || error.status >= 500)
  if (!isForNow) throw error
}
