/** Where the mail that proves an address leads (`pages.verify` of the shop). Only the account that asked for it can use it. */
import { Refused } from '../api.ts'
import { h } from '../dom.ts'
import { linkTo, openPage, parameter } from '../layout.ts'
import { askAsCustomer, isLoggedIn } from '../session.ts'

const token = parameter('token')

void openPage(async ({ words, main, title }) => {
  // The mail may open in another tab, or on another device.
  if (!isLoggedIn()) return location.replace(linkTo('login', { to: 'verify', token }))
  history.replaceState(null, '', linkTo('verify'))
  const isProven = await proven()
  main.append(
    title(words.yourAddress),
    h('p', { role: isProven ? 'status' : 'alert' }, isProven ? words.verified : words.linkOver),
    h('p', {}, h('a', { href: linkTo('account'), class: 'button' }, words.account)),
  )
})

async function proven(): Promise<boolean> {
  try {
    await askAsCustomer('POST /customer/verify', { body: { token } })
    return true
  } catch (error) {
    if (error instanceof Refused && (error.status === 404 || error.status === 400)) return false
    throw error
  }
}
