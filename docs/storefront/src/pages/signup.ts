import { ask, shopName } from '../api.ts'
import { h } from '../dom.ts'
import { field, form, typed } from '../form.ts'
import { linkTo, openPage } from '../layout.ts'
import { askAsCustomer, logIn } from '../session.ts'

void openPage(async ({ words, main, title }) => {
  main.append(
    title(words.signUp),
    form(
      {
        words,
        submit: words.signUp,
        refusals: { 409: words.taken },
        async onSubmit(values) {
          const [email, password] = [typed(values, 'email'), String(values.get('password'))]
          await ask('POST /customer/signup', { body: { shopName, email, password, name: typed(values, 'name') } })
          await logIn(email, password)
          // souk sends no e-mail by itself. If this fails, the account page offers it again.
          await askAsCustomer('POST /customer/verify/send', {}).catch(() => undefined)
          location.assign(linkTo('account'))
        },
      },
      field({ label: words.name, name: 'name', required: true, maxlength: 200, autocomplete: 'name' }),
      field({ label: words.email, name: 'email', type: 'email', required: true, maxlength: 254, autocomplete: 'username' }),
      field({
        label: words.password,
        name: 'password',
        type: 'password',
        required: true,
        minlength: 10,
        maxlength: 200,
        autocomplete: 'new-password',
        hint: words.passwordRule,
      }),
    ),
    h('p', {}, h('a', { href: linkTo('forgot') }, words.forgotten)),
  )
})
