import { ask, shopName } from '../api.ts'
import { h, refill } from '../dom.ts'
import { field, form, typed } from '../form.ts'
import { openPage } from '../layout.ts'

void openPage(async ({ words, main, title }) => {
  main.append(
    title(words.forgotten),
    form(
      {
        words,
        submit: words.sendLink,
        async onSubmit(values) {
          await ask('POST /auth/password/forgot', { body: { email: typed(values, 'email'), shopName } })
          // The same for every address, so that the page does not reveal who has an account.
          refill(main, title(words.forgotten), h('p', { role: 'status' }, words.linkSent))
        },
      },
      field({ label: words.email, name: 'email', type: 'email', required: true, maxlength: 254, autocomplete: 'username' }),
    ),
  )
})
