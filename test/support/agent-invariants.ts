/** Rules that every response to a platform must satisfy. */
import type { Platform } from './agent-platforms.ts'
import type { Json } from './app.ts'

/** Returns the marker that starts every text which a platform sends about its buyer. */
export const markOf = ({ nth }: Platform, count: number): string => `mark-p${nth}x${count}`
/** Details that a shopper types on a page. No response to a platform may contain them. */
export const typedDetails = {
  email: 'typed@example.com',
  name: 'Typed Person',
  line1: '7 Typed Street',
  city: 'Typedville',
  province: 'CA',
  postalCode: '90001',
  countryCode: 'US',
}

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0)
type Total = { type: string; amount: number }
const amountOf = (totals: readonly Total[], wanted: string): number => totals.find(({ type }) => type === wanted)?.amount ?? 0
export const totalOf = ({ totals }: Json): number => amountOf(totals, 'total')

/** Returns the rules that a response with a checkout or cart breaks, one sentence each. */
export function answerViolations(platform: Platform, body: Json): string[] {
  const found: string[] = []
  const rule = (holds: boolean, what: string) => {
    if (!holds) found.push(what)
  }
  const text = JSON.stringify(body)
  rule(!/typed/i.test(text), 'a platform sees what was typed on a page')
  for (const [, nth] of text.matchAll(/mark-p(\d+)x/g)) rule(Number(nth) === platform.nth, `a platform sees the buyer of platform ${nth}`)
  if (!Array.isArray(body.totals)) return found
  const adds = (totals: readonly Total[], what: string) => {
    rule(totals.at(-1)?.type === 'total' && totals.filter(({ type }) => type === 'total').length === 1, `${what} do not end with the total`)
    rule(
      totals.every(({ amount }) => Number.isSafeInteger(amount)),
      `${what} are not whole`,
    )
    rule(sum(totals.slice(0, -1).map(({ amount }) => amount)) === totals.at(-1)?.amount, `${what} do not add up`)
  }
  adds(body.totals, 'totals')
  for (const { totals, item, quantity } of body.line_items) {
    adds(totals, 'totals of a line')
    rule(amountOf(totals, 'subtotal') === item.price * quantity, 'the subtotal of a line is not its price times its quantity')
  }
  for (const type of ['subtotal', 'items_discount'])
    rule(
      sum(body.line_items.map(({ totals }: Json) => amountOf(totals, type))) === amountOf(body.totals, type),
      `${type} is not the sum of the lines`,
    )
  const chosen = body.fulfillment?.methods[0].groups[0]
  const option = chosen?.options.find(({ id }: Json) => id === chosen.selected_option_id)
  if (option && body.status !== 'completed')
    rule(amountOf(body.totals, 'fulfillment') === totalOf(option), 'the fulfillment total is not the price of the option')
  return found
}

/** Returns a response without the fields that differ between releases. */
export const withoutReleaseDifferences = (body: Json): Json =>
  JSON.parse(JSON.stringify(body).replaceAll('2026-04-08', '2026-08-25'), (name, value) => {
    if (name === 'destinations') return value.map(({ type: _, ...rest }: Json) => rest)
    return value
  })
