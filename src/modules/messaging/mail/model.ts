import { t } from 'elysia'
import { Email, fieldsOf, integer, maybe, nullable, oneOf, publicName, text } from '../../../http/schema.ts'
import { type MailTemplate, mailLanguages, templateNames } from './domain.ts'

const Colour = text(7, { pattern: '^#[0-9a-fA-F]{6}$', rule: 'a colour, as #1f2937' })
const Language = oneOf(mailLanguages, { description: 'English, Arabic (right to left) or Mongolian' })
const effectiveDescription = { description: 'What is used, whether it was set or not' }

export const MailSettingsRecord = t.Object(
  {
    senderName: nullable(
      t.String({
        description:
          "Whom mails are from; null: the shop's title. The shop's handle follows it, as `effective` shows. Names of payment processors and of the instance are refused",
      }),
    ),
    replyTo: nullable(t.String({ description: "Where answers go; null: the shop's contact address, if it has one" })),
    colours: t.Object({ accent: nullable(t.String()), background: nullable(t.String()) }),
    language: Language,
    effective: t.Object(
      {
        senderName: t.String(),
        address: nullable(t.String({ description: 'Of the instance, by MAIL_FROM' })),
        replyTo: nullable(t.String()),
        colours: t.Object({ accent: t.String(), background: t.String() }),
      },
      effectiveDescription,
    ),
    limits: t.Object(
      {
        ...fieldsOf(integer({ minimum: 0 }), 'perHour', 'perDay', 'sentLastHour', 'sentLastDay'),
        delayed: integer({ minimum: 0, description: 'Mails that wait because a quota is used up; 1,000 at most' }),
        refusedLastDay: integer({
          minimum: 0,
          description:
            'Mails that were not sent: the shop is suspended or in test mode, or a quota of the recipient or of the network address was used up; 1,000 at most',
        }),
        onlyStaff: t.Boolean({ description: 'True: the shop is in test mode, and mail goes to its own staff only' }),
      },
      { description: 'How much mail the shop may send and has sent. What is over the quota of the shop waits until it is free again' },
    ),
    sending: t.Boolean({ description: 'False: the instance has no mail server, and nobody is told anything by mail' }),
  },
  { title: 'MailSettings' },
)

export const SetMailSettings = t.Object({
  senderName: maybe(text(100, publicName)),
  replyTo: maybe(Email),
  colours: t.Optional(t.Object({ accent: maybe(Colour), background: maybe(Colour) })),
  language: t.Optional(Language),
})

export const PreviewPath = t.Object({ template: oneOf(templateNames as [MailTemplate, ...MailTemplate[]]) })
export const PreviewQuery = t.Object({ language: t.Optional(Language) })
export const Preview = t.Object(
  { subject: t.String(), text: t.String(), html: t.String() },
  { title: 'MailPreview', 'x-texts-too': ['text/html', 'text/plain'] },
)
