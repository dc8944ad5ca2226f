import { qualityOf } from '../../../http/csv.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { type MailDeps, previewMail, readMailSettings, setMailSettings } from './index.ts'
import { MailSettingsRecord, Preview, PreviewPath, PreviewQuery, SetMailSettings } from './model.ts'

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
        summary: "How the shop's mails look",
        description: '`sending` says whether the instance sends mails at all; `effective` what is used where nothing is set.',
      },
    })
    .put(
      '/shops/v2/mail',
      ({ shop, actor, expected, body: { senderName = null, replyTo = null, colours = {}, language = 'en' } }) => {
        const { accent: accentColour = null, background: backgroundColour = null } = colours
        return setMailSettings(deps, { shop, actor, expected }, { senderName, replyTo, accentColour, backgroundColour, language })
      },
      {
        access: 'merchant',
        versioned: true,
        body: SetMailSettings,
        response: { 200: MailSettingsRecord, ...errorResponses(401, 403, 404, 413, 415) },
        detail: {
          summary: "Say how the shop's mails look",
          description:
            'Replaces all of it: what is left out is as usual again. Mails that wait are sent by what is so then. The address that they come from is the instance’s; text on a colour is black or white, whichever is read.',
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
          summary: 'What a mail of the shop looks like',
          description:
            'About an order that there is not, in the shop’s currency. By `accept`: `text/html` or `text/plain` answer that part as it is sent, anything else subject, text and HTML as JSON. `language`: in place of the shop’s.',
        },
      },
    )
