/** The page that agents open (`pages.checkout` of the shop): it takes over the agent's cart and continues to the checkout. */
import { Refused } from '../api.ts'
import { takeCart } from '../cart.ts'
import { h } from '../dom.ts'
import { linkTo, openPage, parameter } from '../layout.ts'

const token = parameter('token')

void openPage(async ({ words, main, title }) => {
  history.replaceState(null, '', linkTo('handoff'))
  if (await taken()) return location.replace(linkTo('checkout'))
  main.append(
    title(words.checkout),
    h('p', { role: 'alert' }, words.linkOver),
    h('p', {}, h('a', { href: linkTo('index'), class: 'button' }, words.toShop)),
  )
})

/** @returns false for a link that is over */
async function taken(): Promise<boolean> {
  try {
    await takeCart(token)
    return true
  } catch (error) {
    if (error instanceof Refused && (error.status === 404 || error.status === 400)) return false
    throw error
  }
}
