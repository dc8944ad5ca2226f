/** The page of the password e-mail (`pages.reset` of the shop). */
import { ask } from '../api.ts'
import { h, refill } from '../dom.ts'
import { field, form } from '../form.ts'
import { linkTo, openPage, parameter } from '../layout.ts'

const token = parameter('token')
// The token opens the account: remove it from the address and so from history and screenshots.
history.replaceState(null, '', linkTo('reset'))

void openPage(async ({ words, main, title }) => {
  main.append(
    title(words.newPassword),
    form(
      {
        words,
        submit: words.save,
        refusals: { 401: words.linkOver },
        async onSubmit(values) {
          await ask('POST /auth/password/reset', { body: { token, password: String(values.get('password')) } })
          refill(
            main,
            title(words.newPassword),
            h('p', { role: 'status' }, words.passwordSaved),
            h('p', {}, h('a', { href: linkTo('login'), class: 'button' }, words.logIn)),
          )
        },
      },
      field({
        label: words.newPassword,
        name: 'password',
        type: 'password',
        required: true,
        minlength: 10,
        maxlength: 200,
        autocomplete: 'new-password',
        hint: words.passwordRule,
      }),
    ),
    h('p', {}, h('a', { href: linkTo('forgot') }, words.askAgain)),
  )
})
