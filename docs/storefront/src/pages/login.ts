import { h } from '../dom.ts'
import { field, form, typed } from '../form.ts'
import { linkTo, openPage, parameter } from '../layout.ts'
import { logIn } from '../session.ts'

/** The page to continue at after the login. Only pages of this storefront are allowed. */
const pages = ['account', 'addresses', 'verify', 'checkout']

const token = parameter('token')
// Removes the token of an e-mail from the address, as the pages of e-mails do.
if (token !== '') history.replaceState(null, '', linkTo('login', { to: parameter('to') }))

void openPage(async ({ words, main, title }) => {
  main.append(
    title(words.logIn),
    form(
      {
        words,
        submit: words.logIn,
        refusals: { 401: words.wrongPassword },
        async onSubmit(values) {
          await logIn(typed(values, 'email'), String(values.get('password')))
          location.assign(linkTo(pages.find((page) => page === parameter('to')) ?? 'account', { token }))
        },
      },
      field({ label: words.email, name: 'email', type: 'email', required: true, maxlength: 254, autocomplete: 'username' }),
      field({
        label: words.password,
        name: 'password',
        type: 'password',
        required: true,
        maxlength: 200,
        autocomplete: 'current-password',
      }),
    ),
    h('p', {}, h('a', { href: linkTo('signup') }, words.signUp), ' · ', h('a', { href: linkTo('forgot') }, words.forgotten)),
  )
})
