/** The page of the verification e-mail (`pages.verify` of the shop). Only the account that requested it can use it. */
import { Refused } from '../api.ts'
import { h } from '../dom.ts'
import { linkTo, openPage, parameter } from '../layout.ts'
import { askAsCustomer, isLoggedIn } from '../session.ts'

const token = parameter('token')

void openPage(async ({ words, main, title }) => {
  // The e-mail may open in another tab or on another device.
  if (!isLoggedIn()) return logInFirst()
  history.replaceState(null, '', linkTo('verify'))
  const isProven = await proven()
  if (isProven === undefined) return logInFirst()
  main.append(
    title(words.yourAddress),
    h('p', { role: isProven ? 'status' : 'alert' }, isProven ? words.verified : words.linkOver),
    h('p', {}, h('a', { href: linkTo('account'), class: 'button' }, words.account)),
  )
})

const logInFirst = () => location.replace(linkTo('login', { to: 'verify', token }))

/** @returns undefined if the session ended and the customer must log in again */
async function proven(): Promise<boolean | undefined> {
  try {
    await askAsCustomer('POST /customer/verify', { body: { token } })
    return true
  } catch (error) {
    if (error instanceof Refused && error.status === 401) return undefined
    if (error instanceof Refused && (error.status === 404 || error.status === 400)) return false
    throw error
  }
}
