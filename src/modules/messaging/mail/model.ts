import { t } from 'elysia'
import { Email, fieldsOf, integer, maybe, notBlank, nullable, oneOf, publicName, text } from '../../../http/schema.ts'
import {
  abandonedCartMailDefault,
  afterHoursMax,
  type MailTemplate,
  mailLanguages,
  orderMailsMax,
  subjectMax,
  templateNames,
} from './domain.ts'

const Colour = text(7, { pattern: '^#[0-9a-fA-F]{6}$', rule: 'a colour such as #1f2937' })
const Language = oneOf(mailLanguages, { description: 'English, Arabic (right to left) or Mongolian' })
const effectiveDescription = { description: 'Settings in use, including defaults' }

export const MailSettingsRecord = t.Object(
  {
    senderName: nullable(
      t.String({
        description:
          "Sender name. Null: the shop's title. The shop's handle is appended, as `effective` shows. Names of payment processors and of the instance are rejected",
      }),
    ),
    replyTo: nullable(t.String({ description: "Reply-to address. Null: the shop's contact address, if there is one" })),
    colours: t.Object({ accent: nullable(t.String()), background: nullable(t.String()) }),
    language: Language,
    orderMails: t.Array(t.String(), { description: 'Addresses that get the e-mail `new_order` for each confirmed order' }),
    abandonedCartMail: t.Object({ enabled: t.Boolean(), afterHours: integer() }),
    effective: t.Object(
      {
        senderName: t.String(),
        address: nullable(t.String({ description: "The instance's address (MAIL_FROM)" })),
        replyTo: nullable(t.String()),
        colours: t.Object({ accent: t.String(), background: t.String() }),
      },
      effectiveDescription,
    ),
    limits: t.Object(
      {
        ...fieldsOf(integer({ minimum: 0 }), 'perHour', 'perDay', 'sentLastHour', 'sentLastDay'),
        delayed: integer({ minimum: 0, description: 'Number of e-mails that wait because a quota is used up, at most 1,000' }),
        refusedLastDay: integer({
          minimum: 0,
          description:
            'Number of e-mails that were not sent, at most 1,000: the shop is suspended or in test mode, or a quota of the recipient or client address was used up',
        }),
        onlyStaff: t.Boolean({ description: 'True: the shop is in test mode, and e-mails are sent to its staff only' }),
      },
      { description: 'E-mail quota of the shop and its use. E-mails above the quota wait until it is free again' },
    ),
    sending: t.Boolean({ description: 'False: the instance has no mail server and sends no e-mails' }),
  },
  { title: 'MailSettings' },
)

export const SetMailSettings = t.Object({
  senderName: maybe(text(100, publicName)),
  replyTo: maybe(Email),
  colours: t.Optional(t.Object({ accent: maybe(Colour), background: maybe(Colour) })),
  language: t.Optional(Language),
  orderMails: t.Optional(
    t.Array(Email, {
      maxItems: orderMailsMax,
      description: 'Addresses that get the e-mail `new_order` once per order, when it is confirmed. Default: none',
    }),
  ),
  abandonedCartMail: t.Optional(
    t.Object(
      {
        enabled: t.Boolean(),
        afterHours: t.Optional(
          integer({
            minimum: 1,
            maximum: afterHoursMax,
            description: `Hours without a change of the cart. Default: ${abandonedCartMailDefault.afterHours}`,
          }),
        ),
      },
      {
        description:
          'The e-mail `abandoned-cart`: once for an open cart with lines, an e-mail address and `acceptsMarketing`, after `afterHours` and at most a day later. Default: off',
      },
    ),
  ),
})

const Template = oneOf(templateNames as [MailTemplate, ...MailTemplate[]])
const textsMax = 5_000
const placeholderHint = 'Plain text; `{{name}}` is replaced by a value of the e-mail'
const Placeholders = t.Array(t.String(), { description: 'Names that texts of this template may use as `{{name}}`' })

export const TextsPath = t.Object({ template: Template, language: Language })
export const SetMailTexts = t.Object({
  subject: maybe(text(subjectMax, { ...publicName, description: placeholderHint })),
  intro: maybe(
    text(textsMax, { ...notBlank, description: `Replaces the first paragraph. A blank line begins a paragraph. ${placeholderHint}` }),
  ),
  closing: maybe(text(textsMax, { ...notBlank, description: `Follows the content and the button. ${placeholderHint}` })),
})
export const MailTextsRecord = t.Object(
  {
    template: Template,
    language: Language,
    ...fieldsOf(nullable(t.String({ description: "Null: souk's text" })), 'subject', 'intro', 'closing'),
    defaults: t.Object({ subject: t.String(), intro: t.String() }, { description: "souk's texts with their placeholders" }),
    placeholders: Placeholders,
  },
  { title: 'MailTexts' },
)

export const PreviewPath = t.Object({ template: Template })
export const PreviewQuery = t.Object({ language: t.Optional(Language) })
export const Preview = t.Object(
  { subject: t.String(), text: t.String(), html: t.String(), placeholders: Placeholders },
  { title: 'MailPreview', 'x-texts-too': ['text/html', 'text/plain'] },
)
