/** The address book of a customer. */
import { addressFields, addressText, servedCountries, typedAddress } from '../address.ts'
import type { Schema } from '../api.ts'
import { type Child, h, refill } from '../dom.ts'
import { action, form, tick } from '../form.ts'
import { linkTo, openPage, type Shown } from '../layout.ts'
import { askAsCustomer } from '../session.ts'

type Countries = Awaited<ReturnType<typeof servedCountries>>
type Address = Schema<'Address'>

void openPage(
  async (shown) => {
    await draw(shown, await servedCountries())
  },
  { isPrivate: true },
)

/** Shows a message on the redrawn page, and moves the focus to its heading near the message. */
function tell(shown: Shown, text: string): void {
  shown.say(text)
  const heading = shown.main.querySelector('h1')
  heading?.setAttribute('tabindex', '-1')
  heading?.focus()
}

async function draw(shown: Shown, countries: Countries, changing?: Address): Promise<void> {
  const { words, main } = shown
  const { data } = await askAsCustomer('GET /customer/me/addresses', { query: { limit: 100 } })
  refill(
    main,
    shown.title(words.addresses),
    h(
      'ul',
      { class: 'grid' },
      data.map((address) => h('li', {}, entry(address, countries, shown))),
    ),
    h('section', {}, h('h2', {}, changing ? words.changeAddress : words.addAddress), entryForm(shown, countries, changing)),
    h('p', {}, h('a', { href: linkTo('account') }, words.account)),
  )
}

const entry = (address: Address, countries: Countries, shown: Shown): Child => {
  const { words } = shown
  return [
    addressText(address, words),
    address.isDefaultShipping && h('p', { class: 'small' }, words.usual),
    h(
      'p',
      { class: 'actions' },
      action(words, words.edit, () => draw(shown, countries, address), { 'aria-label': words.editOf(address.name) }),
      action(
        words,
        words.remove,
        async () => {
          await askAsCustomer('DELETE /customer/me/addresses/{id}', { path: { id: address.id } })
          await draw(shown, countries)
          tell(shown, words.removed)
        },
        { 'aria-label': words.removeOf(address.name) },
      ),
    ),
  ]
}

const entryForm = (shown: Shown, countries: Countries, changing: Address | undefined): HTMLElement =>
  form(
    {
      words: shown.words,
      submit: shown.words.save,
      async onSubmit(values) {
        const body = { ...typedAddress(values), isDefaultShipping: values.has('isDefaultShipping') }
        if (changing) await askAsCustomer('PATCH /customer/me/addresses/{id}', { path: { id: changing.id }, body })
        else await askAsCustomer('POST /customer/me/addresses', { body })
        await draw(shown, countries)
        tell(shown, shown.words.saved)
      },
    },
    addressFields(countries, shown.words, changing),
    tick({ label: shown.words.usual, name: 'isDefaultShipping', checked: changing?.isDefaultShipping ?? false }),
  )
