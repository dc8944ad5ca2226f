import { dayMs, hourMs, minuteMs } from '../../../lib/day.ts'
import type { Money } from '../../../lib/money.ts'
import { pick } from '../../../lib/objects.ts'
import { plainLines, plainText } from '../../../lib/plain-text.ts'
import { tokenLifeMs } from '../../identity/one-time-token/domain.ts'
import {
  type MailData,
  type MailLanguage,
  type MailLine,
  type MailOrder,
  type MailTemplate,
  type OrderRef,
  type Placeholder,
  placeholdersOf,
  subjectMax,
} from './domain.ts'
import { type EditedTexts, fillParagraphs, fillPlaceholders } from './edited-texts.ts'
import { type Look, type MailText, renderLayout } from './layout.ts'
import { catalogs } from './texts.ts'
import type { Catalog } from './texts-en.ts'

/** URLs of the shop's or souk's pages. */
export type Links = {
  order(orderId: string): string
  /** Page of the order for staff; undefined without a console. */
  manage(orderId: string): string | undefined
  pay(draftId: string): string
  cart(token: string): string
  /** Page that withdraws the consent to mails. */
  unsubscribe(token: string): string
  reset(token: string): string
  verify(token: string): string
  invitation(token: string): string
}

const titleMax = 150

/** Values of the placeholders of a template. */
type Values<Template extends MailTemplate> = { readonly shop: string } & Readonly<Record<Placeholder<Template>, string>>

/** A template. Its texts can be replaced by the shop; its body cannot. */
type TemplateDefinition<Template extends MailTemplate> = {
  /** Values of others have passed `plainText`. */
  values(data: MailData[Template], look: Look): Readonly<Record<Placeholder<Template>, string>>
  /** souk's texts. Without `data`, the values are the placeholders themselves. */
  texts(say: Catalog, values: Values<Template>, data?: MailData[Template]): Pick<MailText, 'subject' | 'heading'> & { intro: string }
  /** What follows the intro. */
  body(data: MailData[Template], look: Look, links: Links): Partial<Omit<MailText, 'subject' | 'heading' | 'closing'>>
}

/** Renders a template, with the shop's own texts if there are any. */
export function renderMail<Template extends MailTemplate>(
  template: Template,
  data: MailData[Template],
  look: Look,
  links: Links,
  edited?: EditedTexts,
): { subject: string; text: string; html: string; unsubscribeUrl?: string | undefined } {
  const definition: TemplateDefinition<Template> = definitions[template]
  const values = { shop: look.title, ...definition.values(data, look) }
  const { subject, heading, intro } = definition.texts(look.words.say, values, data)
  const { paragraphs = [], ...body } = definition.body(data, look, links)
  const filled = edited?.subject ? plainText(fillPlaceholders(edited.subject, values), subjectMax) : ''
  const rendered = renderLayout(look, {
    subject: filled || subject,
    heading,
    paragraphs: [...(edited?.intro ? fillParagraphs(edited.intro, values) : [intro]), ...paragraphs],
    ...body,
    closing: edited?.closing ? fillParagraphs(edited.closing, values) : [],
  })
  return { ...rendered, unsubscribeUrl: body.unsubscribe?.url }
}

/** Returns souk's texts of a template with their placeholders. */
export function defaultTexts<Template extends MailTemplate>(
  template: Template,
  language: MailLanguage,
): { subject: string; intro: string } {
  const definition: TemplateDefinition<Template> = definitions[template]
  const placeholders = Object.fromEntries(placeholdersOf(template).map((name) => [name, `{{${name}}}`]))
  return pick(definition.texts(catalogs[language], placeholders as Values<Template>), 'subject', 'intro')
}

const nameOf = ({ title, variantTitle }: MailLine): string => {
  const [name, variant] = [plainText(title, titleMax), plainText(variantTitle, titleMax)]
  return variant === '' ? name : `${name} (${variant})`
}

const linesOf = (lines: readonly MailLine[], { words }: Look) =>
  lines.map((line) => ({
    what: nameOf(line),
    count: words.say.quantity(words.count(line.quantity)),
    amount: line.total && words.money(line.total),
  }))

/** Leaves out zero amounts except subtotal and total. */
function totalsOf(order: MailOrder, { words: { say, money } }: Look) {
  const { subtotal, discountTotal, shippingTotal, taxTotal, taxIncluded, shippingTax, shippingTaxInclusive, giftCardTotal, total } = order
  const negate = ({ amount, currency }: Money): Money => ({ amount: -amount, currency })
  const some = (what: string, amount: Money, shown = amount) => (amount.amount === 0 ? [] : [{ what, amount: money(shown) }])
  const ofShipping = shippingTax ? some(say.shippingTax, shippingTax) : []
  return [
    { what: say.subtotal, amount: money(subtotal) },
    ...some(say.discount, discountTotal, negate(discountTotal)),
    ...some(order.shippingMethod === null ? say.shipping : `${say.shipping}, ${plainText(order.shippingMethod, titleMax)}`, shippingTotal),
    ...some(say.tax, taxTotal),
    ...(shippingTaxInclusive ? [] : ofShipping),
    { what: say.total, amount: money(total), isSum: true },
    ...some(say.taxIncluded, taxIncluded),
    ...(shippingTaxInclusive ? ofShipping : []),
    ...some(say.giftCards, giftCardTotal),
  ]
}

const numberOf = ({ number }: OrderRef): string => String(number)

const viewOrder = ({ orderId }: Pick<OrderRef, 'orderId'>, { words }: Look, links: Links) => ({
  what: words.say.viewOrder,
  url: links.order(orderId),
})

const orderBody = (order: MailOrder, look: Look) => ({
  lines: linesOf(order.lines, look),
  more: order.more > 0 ? look.words.say.more(look.words.count(order.more)) : undefined,
  totals: totalsOf(order, look),
})

const passwordBody = (token: string | undefined, { words: { say, minutes } }: Look, links: Links) => ({
  button: { what: say.choosePassword, url: links.reset(token ?? '') },
  notes: [say.goodFor(minutes(tokenLifeMs.PASSWORD_RESET / minuteMs)), say.notYou],
})

const definitions: { readonly [Template in MailTemplate]: TemplateDefinition<Template> } = {
  'order-confirmed': {
    values: ({ order }, { words }) => ({ orderNumber: numberOf(order), total: words.money(order.total) }),
    texts: (say, { orderNumber, shop }) => ({
      subject: say.confirmedSubject(orderNumber, shop),
      heading: say.confirmedHeading,
      intro: say.confirmedText,
    }),
    body: ({ order }, look, links) => ({ ...orderBody(order, look), button: viewOrder(order, look, links) }),
  },
  'payment-instructions': {
    values: ({ order: { number = 0 }, amount, method }, { words }) => ({
      orderNumber: String(number),
      amount: words.money(amount),
      method: plainText(method, titleMax),
    }),
    texts: (say, { orderNumber, amount, method, shop }) => ({
      subject: say.instructionsSubject(orderNumber, shop),
      heading: say.instructionsHeading,
      intro: say.instructionsText(orderNumber, amount, method),
    }),
    body: ({ order, instructions }, look, links) => ({ paragraphs: plainLines(instructions), button: viewOrder(order, look, links) }),
  },
  new_order: {
    values: ({ order }, { words }) => ({ orderNumber: numberOf(order), total: words.money(order.total) }),
    texts: (say, { orderNumber, total, shop }) => ({
      subject: say.newOrderSubject(orderNumber, shop),
      heading: say.newOrderHeading,
      intro: say.newOrderText(orderNumber, total),
    }),
    body({ order }, look, links) {
      const url = links.manage(order.orderId)
      return { ...orderBody(order, look), button: url === undefined ? undefined : { what: look.words.say.viewOrder, url } }
    },
  },
  gift_card: {
    values: ({ amount, recipient, sender }, { words }) => ({
      amount: words.money(amount),
      recipient: plainText(recipient ?? '', titleMax),
      sender: plainText(sender ?? '', titleMax),
    }),
    texts: (say, { amount, shop }) => ({
      subject: say.giftCardSubject(shop),
      heading: say.giftCardHeading,
      intro: say.giftCardText(amount, shop),
    }),
    body({ code, sender, message }, { words: { say } }) {
      const from = plainText(sender ?? '', titleMax)
      return {
        paragraphs: [...(from === '' ? [] : [say.giftCardFrom(from)]), ...plainLines(message ?? '')],
        facts: [{ what: say.giftCardCode, value: code }],
        notes: [say.giftCardNote],
      }
    },
  },
  'payment-failed': {
    values: ({ order, amount }, { words }) => ({ orderNumber: numberOf(order), amount: words.money(amount) }),
    texts: (say, { orderNumber, amount, shop }) => ({
      subject: say.paymentFailedSubject(orderNumber, shop),
      heading: say.paymentFailedHeading,
      intro: say.paymentFailedText(amount),
    }),
    body: ({ order }, look, links) => ({ button: viewOrder(order, look, links) }),
  },
  'order-shipped': {
    values: ({ order, trackingNumber, carrier }) => ({
      orderNumber: numberOf(order),
      trackingNumber: plainText(trackingNumber ?? '', titleMax),
      carrier: plainText(carrier ?? '', titleMax),
    }),
    texts: (say, { orderNumber, shop }, data) => ({
      subject: say.shippedSubject(orderNumber, shop),
      heading: say.shippedHeading,
      intro: data?.lines ? say.shippedPartText : say.shippedText,
    }),
    body({ order, trackingNumber, carrier, lines }, look, links) {
      const { say } = look.words
      const fact = (what: string, value: string | null) => (value === null ? [] : [{ what, value: plainText(value, titleMax) }])
      return {
        lines: linesOf(lines ?? [], look),
        facts: [...fact(say.carrier, carrier), ...fact(say.trackingNumber, trackingNumber)],
        button: viewOrder(order, look, links),
      }
    },
  },
  'refund-made': {
    values: ({ order, amount }, { words }) => ({ orderNumber: numberOf(order), amount: words.money(amount) }),
    texts: (say, { orderNumber, amount, shop }) => ({
      subject: say.refundSubject(orderNumber, shop),
      heading: say.refundHeading,
      intro: say.refundText(amount),
    }),
    body: ({ order, giftCardAmount }, look, links) => ({
      paragraphs: giftCardAmount.amount > 0 ? [look.words.say.refundToCards(look.words.money(giftCardAmount))] : [],
      button: viewOrder(order, look, links),
    }),
  },
  'return-updated': {
    values: ({ order, status }, { words }) => ({ orderNumber: numberOf(order), statusText: words.say.returnTexts[status] }),
    texts: (say, { orderNumber, statusText, shop }, data) => ({
      subject: say.returnSubject(orderNumber, shop),
      heading: data ? say.returnStatuses[data.status] : '',
      intro: statusText,
    }),
    body: ({ order, lines, rejection }, look, links) => ({
      paragraphs: rejection === null ? [] : plainLines(rejection),
      lines: linesOf(lines, look),
      button: viewOrder(order, look, links),
    }),
  },
  'order-draft': {
    values: ({ total }, { words }) => ({ total: words.money(total) }),
    texts: (say, { shop }) => ({ subject: say.draftSubject(shop), heading: say.draftHeading, intro: say.draftText(shop) }),
    body({ draftId, lines, more, total }, look, links) {
      const { say, count, money } = look.words
      return {
        lines: linesOf(lines, look),
        more: more > 0 ? say.more(count(more)) : undefined,
        totals: [{ what: say.total, amount: money(total), isSum: true }],
        button: { what: say.draftButton, url: links.pay(draftId) },
      }
    },
  },
  'abandoned-cart': {
    values: ({ contents }, { words }) => ({ total: contents ? words.money(contents.total) : '' }),
    texts: (say, { shop }) => ({ subject: say.abandonedSubject(shop), heading: say.abandonedHeading, intro: say.abandonedText(shop) }),
    body({ contents }, look, links) {
      if (!contents) return {}
      const { say, count, money, days } = look.words
      const { token, lines, more, total } = contents
      return {
        lines: linesOf(lines, look),
        more: more > 0 ? say.more(count(more)) : undefined,
        totals: [{ what: say.total, amount: money(total), isSum: true }],
        button: { what: say.abandonedButton, url: links.cart(token) },
        notes: [say.abandonedLink(days(tokenLifeMs.CART_RECOVERY / dayMs))],
        unsubscribe: { what: say.unsubscribe, url: links.unsubscribe(token) },
      }
    },
  },
  'refund-claim': {
    values: ({ order, amount }, { words }) => ({ orderNumber: numberOf(order), amount: words.money(amount) }),
    texts: (say, { orderNumber, amount, shop }) => ({
      subject: say.claimRefundSubject(orderNumber, shop),
      heading: say.claimRefundHeading,
      intro: say.claimRefundText(amount),
    }),
    body: ({ claimUrl }, { words }) => ({ button: { what: words.say.claimRefundButton, url: claimUrl } }),
  },
  'account-claim': {
    values: () => ({}),
    texts: (say, { shop }) => ({
      subject: say.claimAccountSubject(shop),
      heading: say.claimAccountHeading,
      intro: say.claimAccountText(shop),
    }),
    body: ({ token }, look, links) => passwordBody(token, look, links),
  },
  'password-reset': {
    values: () => ({}),
    texts: (say, { shop }) => ({ subject: say.resetSubject(shop), heading: say.resetHeading, intro: say.resetText }),
    body: ({ token }, look, links) => passwordBody(token, look, links),
  },
  'email-verify': {
    values: () => ({}),
    texts: (say, { shop }) => ({ subject: say.verifySubject(shop), heading: say.verifyHeading, intro: say.verifyText }),
    body: ({ token }, { words: { say, hours } }, links) => ({
      button: { what: say.verifyButton, url: links.verify(token) },
      notes: [say.goodFor(hours(tokenLifeMs.EMAIL_VERIFY / hourMs)), say.notYou],
    }),
  },
  invitation: {
    values: ({ role, invitedBy }, { words: { say } }) => ({
      role: Object.hasOwn(say.roles, role) ? say.roles[role as keyof typeof say.roles] : plainText(role, titleMax),
      invitedBy: plainText(invitedBy ?? '', titleMax),
    }),
    texts: (say, { shop, role }) => ({
      subject: say.invitationSubject(shop),
      heading: say.invitationHeading(shop),
      intro: say.invitationText(shop, role),
    }),
    body({ token, invitedBy }, { words: { say, days } }, links) {
      const by = plainText(invitedBy ?? '', titleMax)
      return {
        paragraphs: by === '' ? [] : [say.invitedBy(by)],
        button: { what: say.invitationButton, url: links.invitation(token) },
        notes: [say.goodFor(days(tokenLifeMs.INVITATION / dayMs)), say.notYou],
      }
    },
  },
  'account-changed': {
    values: ({ what }, { words }) => ({ change: words.say.accountChanges[what] }),
    texts: (say, { shop, change }) => ({ subject: say.accountChangedSubject(shop), heading: change, intro: say.accountChangedText }),
    body: () => ({}),
  },
  test: {
    values: () => ({}),
    texts: (say) => ({ subject: say.testSubject, heading: say.testHeading, intro: say.testText }),
    body: () => ({}),
  },
}
