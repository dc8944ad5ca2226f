/** The form values of mail settings and their body. */
import type { Schema } from '../../lib/api/api.ts'
import type { Language } from '../../lib/i18n/catalog.ts'

type Settings = Schema<'MailSettings'>

export type MailTexts = {
  senderName: string
  replyTo: string
  language: Language
  /** Whether an own colour is set; a colour field always has a value. */
  ownAccent: boolean
  accent: string
  ownBackground: boolean
  background: string
}

export const textsOfMail = ({ senderName, replyTo, language, colours, effective }: Settings): MailTexts => ({
  senderName: senderName ?? '',
  replyTo: replyTo ?? '',
  language,
  ownAccent: colours.accent !== null,
  accent: colours.accent ?? effective.colours.accent,
  ownBackground: colours.background !== null,
  background: colours.background ?? effective.colours.background,
})

/** Builds the body of `PUT /shops/v2/mail`, which replaces all settings. */
export const mailBody = ({ senderName, replyTo, language, ownAccent, accent, ownBackground, background }: MailTexts) => ({
  senderName: senderName.trim() || null,
  replyTo: replyTo.trim() || null,
  language,
  colours: { accent: ownAccent ? accent : null, background: ownBackground ? background : null },
})
