/** The form values of mail settings and their body. */
import type { Schema } from '../../lib/api/api.ts'
import type { Language } from '../../lib/i18n/catalog.ts'

type Settings = Schema<'MailSettings'>

export type MailTexts = {
  senderName: string
  replyTo: string
  language: Language
  /** Addresses that get an e-mail about each order. */
  orderMails: readonly string[]
  mailsCarts: boolean
  /** Hours, as text. */
  cartHours: string
  /** Whether an own colour is set; a colour field always has a value. */
  hasOwnAccent: boolean
  accent: string
  hasOwnBackground: boolean
  background: string
}

/** Returns the form's values of the stored settings. Without an own colour it has the one in effect. */
export const textsOfMail = ({ senderName, replyTo, language, orderMails, abandonedCartMail, colours, effective }: Settings): MailTexts => ({
  senderName: senderName ?? '',
  replyTo: replyTo ?? '',
  language,
  orderMails,
  mailsCarts: abandonedCartMail.enabled,
  cartHours: String(abandonedCartMail.afterHours),
  hasOwnAccent: colours.accent !== null,
  accent: colours.accent ?? effective.colours.accent,
  hasOwnBackground: colours.background !== null,
  background: colours.background ?? effective.colours.background,
})

/** Builds the body of `PUT /shops/v2/mail`, which replaces all settings. */
export const mailBody = ({ senderName, replyTo, language, orderMails, mailsCarts, cartHours, ...colours }: MailTexts) => ({
  senderName: senderName.trim() || null,
  replyTo: replyTo.trim() || null,
  language,
  orderMails: [...orderMails],
  abandonedCartMail: { enabled: mailsCarts, afterHours: Number(cartHours) },
  colours: {
    accent: colours.hasOwnAccent ? colours.accent : null,
    background: colours.hasOwnBackground ? colours.background : null,
  },
})

type Texts = Schema<'MailTexts'>
export type Template = Texts['template']

/** The form values of a template's texts. */
export type TemplateTexts = { subject: string; intro: string; closing: string }

/** Shows souk's text where the shop has none. */
export const textsOfTemplate = ({ subject, intro, closing, defaults }: Texts): TemplateTexts => ({
  subject: subject ?? defaults.subject,
  intro: intro ?? defaults.intro,
  closing: closing ?? '',
})

/** Returns whether the shop has a text of its own in this template and language. */
export const isEdited = ({ subject, intro, closing }: Texts): boolean => [subject, intro, closing].some((text) => text !== null)

/** Builds the body of the texts' PUT. Empty and unchanged texts stay souk's. */
export function templateTextsBody({ subject, intro, closing }: TemplateTexts, defaults: Texts['defaults']) {
  const customText = (text: string, defaultText: string) => (text.trim() === '' || text === defaultText ? null : text)
  return { subject: customText(subject, defaults.subject), intro: customText(intro, defaults.intro), closing: customText(closing, '') }
}
