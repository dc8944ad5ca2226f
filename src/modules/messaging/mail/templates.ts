import { dayMs, hourMs, minuteMs } from '../../../lib/day.ts'
import type { Money } from '../../../lib/money.ts'
import { plainText } from '../../../lib/plain-text.ts'
import { tokenLifeMs } from '../../identity/one-time-token/domain.ts'
import type { MailContent, MailData, MailLine, MailOrder, MailTemplate } from './domain.ts'
import { type Look, type MailText, renderLayout } from './layout.ts'

/** URLs of the shop's or souk's pages. */
export type Links = {
  order(orderId: string): string
  pay(draftId: string): string
  reset(token: string): string
  verify(token: string): string
  invitation(token: string): string
}

const titleMax = 150

/** Renders a template. */
export const renderMail = <Template extends MailTemplate>(
  template: Template,
  data: MailContent<Template>['data'],
  look: Look,
  links: Links,
): { subject: string; text: string; html: string } => renderLayout(look, templateTexts[template](data, look, links))

type TemplateTexts = { readonly [Template in MailTemplate]: (data: MailData[Template], look: Look, links: Links) => MailText }

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
  const { subtotal, discountTotal, shippingTotal, taxTotal, taxIncluded, giftCardTotal, total } = order
  const minus = ({ amount, currency }: Money): Money => ({ amount: -amount, currency })
  const some = (what: string, amount: Money, shown = amount) => (amount.amount === 0 ? [] : [{ what, amount: money(shown) }])
  return [
    { what: say.subtotal, amount: money(subtotal) },
    ...some(say.discount, discountTotal, minus(discountTotal)),
    ...some(order.shippingMethod === null ? say.shipping : `${say.shipping}, ${plainText(order.shippingMethod, titleMax)}`, shippingTotal),
    ...some(say.tax, taxTotal),
    { what: say.total, amount: money(total), isSum: true },
    ...some(say.taxIncluded, taxIncluded),
    ...some(say.giftCards, giftCardTotal),
  ]
}

const templateTexts: TemplateTexts = {
  'order-confirmed': ({ order }, look, links) => {
    const { say, count } = look.words
    return {
      subject: say.confirmedSubject(order.number, look.title),
      heading: say.confirmedHeading,
      paragraphs: [say.confirmedText],
      lines: linesOf(order.lines, look),
      more: order.more > 0 ? say.more(count(order.more)) : undefined,
      totals: totalsOf(order, look),
      button: { what: say.viewOrder, url: links.order(order.orderId) },
    }
  },
  'payment-failed': ({ order, amount }, { title, words: { say, money } }, links) => ({
    subject: say.paymentFailedSubject(order.number, title),
    heading: say.paymentFailedHeading,
    paragraphs: [say.paymentFailedText(money(amount))],
    button: { what: say.viewOrder, url: links.order(order.orderId) },
  }),
  'order-shipped': ({ order, trackingNumber, carrier, lines }, look, links) => {
    const { say } = look.words
    const fact = (what: string, value: string | null) => (value === null ? [] : [{ what, value: plainText(value, titleMax) }])
    return {
      subject: say.shippedSubject(order.number, look.title),
      heading: say.shippedHeading,
      paragraphs: [lines ? say.shippedPartText : say.shippedText],
      lines: linesOf(lines ?? [], look),
      facts: [...fact(say.carrier, carrier), ...fact(say.trackingNumber, trackingNumber)],
      button: { what: say.viewOrder, url: links.order(order.orderId) },
    }
  },
  'refund-made': ({ order, amount, giftCardAmount }, { title, words: { say, money } }, links) => ({
    subject: say.refundSubject(order.number, title),
    heading: say.refundHeading,
    paragraphs: [say.refundText(money(amount)), ...(giftCardAmount.amount > 0 ? [say.refundToCards(money(giftCardAmount))] : [])],
    button: { what: say.viewOrder, url: links.order(order.orderId) },
  }),
  'order-draft': ({ draftId, lines, more, total }, look, links) => {
    const { say, count, money } = look.words
    return {
      subject: say.draftSubject(look.title),
      heading: say.draftHeading,
      paragraphs: [say.draftText(look.title)],
      lines: linesOf(lines, look),
      more: more > 0 ? say.more(count(more)) : undefined,
      totals: [{ what: say.total, amount: money(total), isSum: true }],
      button: { what: say.draftButton, url: links.pay(draftId) },
    }
  },
  'refund-claim': ({ order, amount, claimUrl }, { title, words: { say, money } }) => ({
    subject: say.claimRefundSubject(order.number, title),
    heading: say.claimRefundHeading,
    paragraphs: [say.claimRefundText(money(amount))],
    button: { what: say.claimRefundButton, url: claimUrl },
  }),
  'account-claim': ({ token }, { title, words: { say, minutes } }, links) => ({
    subject: say.claimAccountSubject(title),
    heading: say.claimAccountHeading,
    paragraphs: [say.claimAccountText(title)],
    button: { what: say.choosePassword, url: links.reset(token ?? '') },
    notes: [say.goodFor(minutes(tokenLifeMs.PASSWORD_RESET / minuteMs)), say.notYou],
  }),
  'password-reset': ({ token }, { title, words: { say, minutes } }, links) => ({
    subject: say.resetSubject(title),
    heading: say.resetHeading,
    paragraphs: [say.resetText],
    button: { what: say.choosePassword, url: links.reset(token ?? '') },
    notes: [say.goodFor(minutes(tokenLifeMs.PASSWORD_RESET / minuteMs)), say.notYou],
  }),
  'email-verify': ({ token }, { title, words: { say, hours } }, links) => ({
    subject: say.verifySubject(title),
    heading: say.verifyHeading,
    paragraphs: [say.verifyText],
    button: { what: say.verifyButton, url: links.verify(token) },
    notes: [say.goodFor(hours(tokenLifeMs.EMAIL_VERIFY / hourMs)), say.notYou],
  }),
  invitation: ({ token, role, invitedBy }, { title, words: { say, days } }, links) => {
    const by = plainText(invitedBy ?? '', titleMax)
    return {
      subject: say.invitationSubject(title),
      heading: say.invitationHeading(title),
      paragraphs: [
        say.invitationText(title, Object.hasOwn(say.roles, role) ? say.roles[role as keyof typeof say.roles] : plainText(role, titleMax)),
        ...(by === '' ? [] : [say.invitedBy(by)]),
      ],
      button: { what: say.invitationButton, url: links.invitation(token) },
      notes: [say.goodFor(days(tokenLifeMs.INVITATION / dayMs)), say.notYou],
    }
  },
  'account-changed': ({ what }, { title, words: { say } }) => ({
    subject: say.accountChangedSubject(title),
    heading: say.accountChanges[what],
    paragraphs: [say.accountChangedText],
  }),
  test: (_, { words: { say } }) => ({ subject: say.testSubject, heading: say.testHeading, paragraphs: [say.testText] }),
}
