/** The HTML of a pay page, without scripts. */
import { escapeHtml } from '../../../lib/markup.ts'
import type { Money } from '../../../lib/money.ts'
import { plainText } from '../../../lib/plain-text.ts'
import { visibleVariantTitle } from '../../catalog/products/domain.ts'
import { type Look, linesHtml, type Phrasebook, type WebPage, webPage } from '../../messaging/mail/index.ts'
import type { ManualTerms } from '../../payments/payment/domain.ts'
import type { HostedPageOption } from '../../payments/payment/index.ts'
import type { ManualMethod } from '../../payments/payment-method/domain.ts'
import type { CartView } from '../cart/index.ts'
import { isWholeAddress } from '../checkout/domain.ts'
import { codeMax } from '../discount/domain.ts'
import { addressFields, addressNames, emailMax, type Fields } from './form.ts'

/** Details that a page asks for. `isNeeded`: the draft cannot be paid without them. */
export type PageRequest = {
  readonly email: boolean
  readonly address: boolean
  /** Shipping methods to choose from, if there is a choice. */
  readonly methods: readonly { readonly code: string; readonly title: string; readonly amount: Money }[]
  readonly isNeeded: boolean
  readonly countries: readonly string[]
  /** The preselected country. */
  readonly country: string
}
type Notice = keyof Phrasebook['say']['pay']

/** What a page shows of an order to pay. `key`: the idempotency key of the next attempt. */
export type ToPay = {
  readonly view: CartView
  readonly asked: PageRequest
  readonly ways: readonly HostedPageOption[]
  /** Payments outside souk. */
  readonly manual: readonly Pick<ManualMethod, 'code' | 'title'>[]
  readonly canBePaid: boolean
  /** Whether the page has a field for a discount code. */
  readonly takesCode: boolean
  readonly isTrial: boolean
  readonly key: string
  readonly seen: number
  readonly notice: Notice | undefined
  /** Fields that were sent and refused. */
  readonly sent: Fields | undefined
}

const textMax = 300
const bdi = (text: string): string => `<bdi>${escapeHtml(plainText(text, textMax))}</bdi>`
const hiddenInput = (name: string, value: string): string => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`
const noticeHtml = (notice: Notice | undefined, { say }: Phrasebook): string =>
  notice === undefined ? '' : `<p class="wrong" role="alert">${escapeHtml(say.pay[notice])}</p>`

function linesTable({ lines, status }: CartView, { say, money, count }: Phrasebook): string {
  const rows = lines.map(({ title, variantTitle, quantity, unitPrice, total, available }) => {
    const variantName = visibleVariantTitle(variantTitle ?? '')
    const variant = variantName === '' ? '' : ` <span class="note">${bdi(variantName)}</span>`
    // Stock that the order holds is available to it.
    const soldOutMark = available || status !== 'OPEN' ? '' : ` <span class="wrong">${escapeHtml(say.pay.gone)}</span>`
    return `<tr><td>${bdi(title ?? '—')}${variant}${soldOutMark}</td><td class="n">${count(quantity)}</td><td class="n">${escapeHtml(money(unitPrice))}</td><td class="n">${escapeHtml(money(total))}</td></tr>`
  })
  return `<table>
<thead><tr><th scope="col">${escapeHtml(say.item)}</th><th scope="col" class="n">${escapeHtml(say.count)}</th><th scope="col" class="n">${escapeHtml(say.price)}</th><th scope="col" class="n">${escapeHtml(say.sum)}</th></tr></thead>
<tbody>${rows.join('\n')}</tbody>
</table>`
}

function totalsTable({ totals, currency }: CartView, { say, money }: Phrasebook): string {
  const row = (what: string, amount: Money, style = '') =>
    `<tr${style}><th scope="row">${escapeHtml(what)}</th><td class="n">${escapeHtml(money(amount))}</td></tr>`
  const some = (what: string, { amount }: Money, sign = 1) => (amount === 0 ? [] : [row(what, { amount: sign * amount, currency })])
  const ofShipping = some(say.shippingTax, totals.shippingTax)
  const isIncluded = totals.tax.amount < totals.shippingTax.amount
  return `<table><tbody>${[
    row(say.subtotal, totals.subtotal),
    ...some(say.discount, totals.discount, -1),
    ...some(say.shipping, totals.shipping),
    ...some(say.tax, totals.tax),
    ...(isIncluded ? [] : ofShipping),
    row(say.total, totals.total, ' class="sum"'),
    ...some(say.taxIncluded, totals.taxIncluded),
    ...(isIncluded ? ofShipping : []),
    ...some(say.giftCards, totals.giftCards),
  ].join('\n')}</tbody></table>`
}

/** As much of the address as the order's page shows: links are passed on. */
function destinationOf({ shippingAddress }: CartView, { say, country }: Phrasebook): string {
  if (!shippingAddress) return ''
  const parts = [shippingAddress.name, shippingAddress.city, shippingAddress.province, country(shippingAddress.countryCode)]
  return `<h2>${escapeHtml(say.shipsTo)}</h2><p>${parts
    .filter((part) => part !== null && part !== '')
    .map((part) => bdi(part as string))
    .join('<br>')}</p>`
}

const autocomplete: Readonly<Record<string, string>> = {
  name: 'name',
  company: 'organization',
  line1: 'address-line1',
  line2: 'address-line2',
  city: 'address-level2',
  province: 'address-level1',
  postalCode: 'postal-code',
  phone: 'tel',
}

function detailsForm({ asked, sent, view, notice }: ToPay, { say, money, language, country: countryName }: Phrasebook): string {
  const label = (name: string, text: string) => `<label for="${name}">${escapeHtml(text)}</label>`
  const sentValue = (name: string) => escapeHtml(sent?.get(name) ?? '')
  const input = (name: string, text: string, most: number, more: string) =>
    `${label(name, text)}\n<input id="${name}" name="${name}" maxlength="${most}" value="${sentValue(name)}" ${more}>`
  const options = (of: readonly { value: string; text: string }[], chosen: string | null | undefined) =>
    of
      .map(({ value, text }) => `<option value="${escapeHtml(value)}"${value === chosen ? ' selected' : ''}>${escapeHtml(text)}</option>`)
      .join('')
  const country = () => {
    const all = asked.countries.map((code) => ({ value: code, text: countryName(code) }))
    const sorted = all.toSorted((a, b) => a.text.localeCompare(b.text, language))
    return `${label('countryCode', say.pay.countryCode)}\n<select id="countryCode" name="countryCode" autocomplete="country">${options(sorted, sent?.get('countryCode') ?? view.shippingAddress?.countryCode ?? asked.country)}</select>`
  }
  const isFirst = view.shippingAddress === null || !isWholeAddress(view.shippingAddress)
  const parts = [
    ...(asked.email
      ? [
          input(
            'email',
            say.pay.email,
            emailMax,
            `type="text" inputmode="email" autocapitalize="none" autocomplete="email"${view.email === null ? ' required' : ''}`,
          ),
        ]
      : []),
    ...(asked.address
      ? addressNames.map((name) =>
          name === 'countryCode'
            ? country()
            : input(
                name,
                say.pay[name],
                addressFields[name].most,
                `autocomplete="${autocomplete[name]}"${addressFields[name].isNeeded && isFirst && asked.isNeeded ? ' required' : ''}`,
              ),
        )
      : []),
    ...(asked.methods.length > 0
      ? [
          `${label('shippingMethod', say.pay.method)}\n<select id="shippingMethod" name="shippingMethod">${options(
            asked.methods.map(({ code, title, amount }) => ({ value: code, text: `${plainText(title, textMax)}, ${money(amount)}` })),
            view.shippingMethod,
          )}</select>`,
        ]
      : []),
  ]
  if (parts.length === 0) return ''
  const form = `<form method="post">\n${hiddenInput('step', 'details')}\n${parts.join('\n')}\n<button>${escapeHtml(say.pay.save)}</button>\n</form>`
  const isOpen = notice === 'refused' || asked.isNeeded
  return isOpen
    ? `<h2>${escapeHtml(say.pay.details)}</h2>\n${asked.isNeeded ? `<p>${escapeHtml(say.pay.missing)}</p>\n` : ''}${form}`
    : `<details><summary>${escapeHtml(say.pay.change)}</summary>\n${form}</details>`
}

/** The field for a discount code, or the code of the cart with a button that removes it. */
function codeForm({ takesCode, view: { discountCode, notices } }: ToPay, { say: { pay } }: Phrasebook): string {
  if (!takesCode) return ''
  const step = hiddenInput('step', 'code')
  if (discountCode === null)
    return `<form method="post">${step}\n<label for="code">${escapeHtml(pay.code)}</label>\n<input id="code" name="code" maxlength="${codeMax}" autocapitalize="characters" autocomplete="off" required>\n<button>${escapeHtml(pay.applyCode)}</button>\n</form>`
  const isUnused = notices.some(({ code }) => code === 'DISCOUNT_NOT_COUNTED')
  return `<p>${escapeHtml(pay.code)}: ${bdi(discountCode)}${isUnused ? ` <span class="wrong">${escapeHtml(pay.codeUnused)}</span>` : ''}</p>
<form method="post">${step}${hiddenInput('code', '')}<button>${escapeHtml(pay.removeCode)}</button></form>`
}

function payForms({ view, ways, manual, canBePaid, key, seen }: ToPay, { say, money }: Phrasebook): string {
  if (!canBePaid) return ''
  const due = view.totals.amountDue
  const common = [
    hiddenInput('step', 'pay'),
    hiddenInput('key', key),
    hiddenInput('seen', String(seen)),
    hiddenInput('due', String(due.amount)),
  ].join('')
  if (due.amount === 0) return `<form method="post">\n${common}\n<button>${escapeHtml(say.pay.place)}</button>\n</form>`
  if (ways.length + manual.length === 0) return `<p>${escapeHtml(say.pay.nowhere)}</p>`
  const byHand = manual.map(({ code, title }) => {
    const what = say.howToPay(money(due), plainText(title, textMax))
    return `<form method="post">\n${common}${hiddenInput('method', 'manual')}${hiddenInput('processor', code)}\n<button>${escapeHtml(what)}</button>\n</form>`
  })
  return ways
    .map(({ method, processor, isTrial }, at) => {
      const isOnly = ways.length + manual.length === 1
      const what = isOnly ? say.payButton(money(due)) : say.payButtonBy(money(due), say.pay[isTrial ? 'test' : method])
      const outcome = isTrial
        ? `\n<label for="outcome${at}">${escapeHtml(say.pay.outcome)}</label>\n<select id="outcome${at}" name="outcome"><option value="tok_success">${escapeHtml(say.pay.succeeds)}</option><option value="tok_decline">${escapeHtml(say.pay.declines)}</option></select>`
        : ''
      return `<form method="post">\n${common}${hiddenInput('method', method)}${hiddenInput('processor', processor)}${outcome}\n<button>${escapeHtml(what)}</button>\n</form>`
    })
    .concat(byHand)
    .join('\n')
}

const page = (look: Look, parts: readonly string[]): WebPage =>
  webPage(look, { title: look.words.say.payHeading(look.title), body: parts.filter((part) => part !== '').join('\n'), posts: true })

/** Renders an order to pay, with missing details and payment options. */
export function toPayPage(look: Look, payment: ToPay): WebPage {
  const { words } = look
  const { say } = words
  const { view, isTrial, asked, notice } = payment
  return page(look, [
    noticeHtml(notice, words),
    isTrial ? `<p class="note">${escapeHtml(say.pay.trial)}</p>` : '',
    linesTable(view, words),
    totalsTable(view, words),
    destinationOf(view, words),
    // Missing details come first.
    ...(asked.isNeeded ? [detailsForm(payment, words)] : [payForms(payment, words), detailsForm(payment, words)]),
    codeForm(payment, words),
  ])
}

/**
 * Renders an order with an open payment.
 * @param link the processor's page, if needed
 * @param manual how to pay outside souk
 */
export function waitingPage(
  look: Look,
  view: CartView,
  { link, manual, notice }: { link?: string | undefined; manual?: ManualTerms | undefined; notice: Notice | undefined },
): WebPage {
  const { words } = look
  const { say } = words
  const reloadForm = `<form method="post">${hiddenInput('step', 'look')}<button>${escapeHtml(say.pay.look)}</button></form>`
  const otherwise = `<form method="post">${hiddenInput('step', 'back')}<button>${escapeHtml(say.pay.otherwise)}</button></form>`
  return page(look, [
    noticeHtml(notice, words),
    `<p>${escapeHtml(say.pay.waiting)}</p>`,
    manual === undefined
      ? ''
      : `<h2>${escapeHtml(say.howToPay(words.money(view.totals.amountDue), plainText(manual.title, textMax)))}</h2>\n<p>${linesHtml(manual.instructions)}</p>`,
    link === undefined ? '' : `<p><a class="go" rel="noreferrer" href="${escapeHtml(link)}">${escapeHtml(say.pay.goOn)}</a></p>`,
    reloadForm,
    otherwise,
    linesTable(view, words),
    totalsTable(view, words),
  ])
}

/** Renders a page that cannot show the order now. */
export const laterPage = (look: Look): WebPage => page(look, [noticeHtml('later', look.words)])

/**
 * Renders a draft that is over.
 * @param orderUrl the page of its order, if there is one
 */
export function overPage(look: Look, what: 'paid' | 'cancelled', orderUrl: string | undefined): WebPage {
  const { say } = look.words
  return page(look, [
    `<p><span class="status">${escapeHtml(say.pay[what])}</span></p>`,
    orderUrl === undefined ? '' : `<p><a href="${escapeHtml(orderUrl)}">${escapeHtml(say.viewOrder)}</a></p>`,
  ])
}
