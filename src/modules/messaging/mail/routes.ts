import { qualityOf } from '../../../http/csv.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { abandonedCartMailDefault } from './domain.ts'
import { type MailDeps, previewMail, readMailSettings, readMailTexts, resetMailTexts, setMailSettings, setMailTexts } from './index.ts'
import {
  MailSettingsRecord,
  MailTextsRecord,
  Preview,
  PreviewPath,
  PreviewQuery,
  SetMailSettings,
  SetMailTexts,
  TextsPath,
} from './model.ts'

/** Isolates the preview, which is the shop's HTML on our origin. */
const previewHeaders = {
  'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src https: http:",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  vary: 'accept',
}

export const mailRoutes = (deps: HttpDeps & MailDeps) =>
  routes(deps, 'Shops')
    .get('/shops/v2/mail', ({ shop }) => readMailSettings(deps, shop.id), {
      access: 'merchant',
      versioned: true,
      response: { 200: MailSettingsRecord, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'getMailSettings',
        summary: 'Returns the e-mail settings',
        description: '`sending` says whether the instance sends e-mails; `effective` has the settings in use, including defaults.',
      },
    })
    .put(
      '/shops/v2/mail',
      ({ shop, actor, expected, body }) => {
        const { senderName = null, replyTo = null, colours = {}, language = 'en', orderMails = [] } = body
        const { accent: accentColour = null, background: backgroundColour = null } = colours
        const abandonedCartMail = { ...abandonedCartMailDefault, ...body.abandonedCartMail }
        const settings = { senderName, replyTo, accentColour, backgroundColour, language, orderMails, abandonedCartMail }
        return setMailSettings(deps, { shop, actor, expected }, settings)
      },
      {
        access: 'merchant',
        versioned: true,
        body: SetMailSettings,
        response: { 200: MailSettingsRecord, ...errorResponses(401, 403, 404, 413, 415) },
        detail: {
          operationId: 'replaceMailSettings',
          summary: 'Replaces the e-mail settings',
          description:
            "Settings that you leave out return to their defaults. E-mails that wait use the new settings. The sender address is the instance's. Text on a color is black or white, whichever has more contrast.",
        },
      },
    )
    .get(
      '/shops/v2/mail/preview/:template',
      async ({ shop, params: { template }, query: { language }, request }) => {
        const preview = await previewMail(deps, shop.id, template, language)
        const accept = request.headers.get('accept') ?? '*/*'
        const [json, html, text] = ['application/json', 'text/html', 'text/plain'].map((type) => qualityOf(accept, type)) as [
          number,
          number,
          number,
        ]
        if (json >= html && json >= text) return preview
        const [body, type] = html >= text ? [preview.html, 'text/html'] : [preview.text, 'text/plain']
        return new Response(body, { headers: { ...previewHeaders, 'content-type': `${type}; charset=utf-8` } }) as never
      },
      {
        access: 'merchant',
        params: PreviewPath,
        query: PreviewQuery,
        response: { 200: Preview, ...errorResponses(401, 403, 404) },
        detail: {
          operationId: 'previewMail',
          summary: 'Previews an e-mail',
          description:
            "Uses an example order in the shop's currency, and the shop's own texts. With `accept: text/html` or `text/plain`, the response is that part of the e-mail; otherwise it is JSON with subject, text and HTML. `language` replaces the shop's.",
        },
      },
    )
    .get('/shops/v2/mail/templates/:template/:language', ({ shop, params }) => readMailTexts(deps, shop.id, params), {
      access: 'merchant',
      versioned: true,
      params: TextsPath,
      response: { 200: MailTextsRecord, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'getMailTexts',
        summary: 'Returns the texts of an e-mail',
        description: "`subject`, `intro` and `closing` are null until the shop edits them; the e-mail then uses souk's texts, `defaults`.",
      },
    })
    .put(
      '/shops/v2/mail/templates/:template/:language',
      ({ shop, actor, expected, params, body: { subject = null, intro = null, closing = null } }) =>
        setMailTexts(deps, { shop, actor, expected }, params, { subject, intro, closing }),
      {
        access: 'merchant',
        versioned: true,
        largeJson: true,
        params: TextsPath,
        body: SetMailTexts,
        response: { 200: MailTextsRecord, ...errorResponses(401, 403, 404, 413, 415) },
        detail: {
          operationId: 'replaceMailTexts',
          summary: 'Replaces the texts of an e-mail',
          description:
            'Fields that you leave out return to souk’s text. Texts are plain: tags and scripts are shown as text. The response is 400 with `field` for a placeholder that is not in `placeholders`. Heading, order lines, button and safety notes stay. E-mails that wait use the new texts. Staff invitations of a shop in test mode use souk’s texts.',
        },
      },
    )
    .delete(
      '/shops/v2/mail/templates/:template/:language',
      ({ shop, actor, expected, params }) => resetMailTexts(deps, { shop, actor, expected }, params),
      {
        access: 'merchant',
        versioned: true,
        params: TextsPath,
        response: { 200: MailTextsRecord, ...errorResponses(401, 403, 404) },
        detail: {
          operationId: 'resetMailTexts',
          summary: 'Resets the texts of an e-mail',
          description: "Returns the record: the e-mail uses souk's texts again.",
        },
      },
    )
