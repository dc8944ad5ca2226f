/** What a payment page shows of a QPay invoice. The answer is not trusted. */
import { withoutUndefined } from '../../../lib/objects.ts'
import { listAt, textAt } from '../answers.ts'

const linksMax = 100
const textMax = 8_192
const imageMax = 200_000

/**
 * Returns a new invoice's `{ qrText, qrImage, shortUrl, urls: [{ name, description, logo, link }] }`. Omits missing and
 * invalid parts.
 */
export function clientParametersOf(invoice: unknown): Record<string, unknown> {
  const image = textAt(invoice, 'qr_image')
  return withoutUndefined({
    qrText: textIfShort(textAt(invoice, 'qr_text')),
    qrImage: image && image.length <= imageMax && /^[A-Za-z0-9+/]+={0,2}$/.test(image) ? image : undefined,
    shortUrl: webAddress(textAt(invoice, 'qPay_shortUrl')),
    urls: listAt(invoice, 'urls')
      .slice(0, linksMax)
      .flatMap((app) => appLink(app) ?? []),
  })
}

/** The link to a bank's app, by its own URL scheme. */
function appLink(app: unknown): Record<string, unknown> | undefined {
  const name = textIfShort(textAt(app, 'name'))
  const link = textIfShort(textAt(app, 'link'))
  if (name === undefined || link === undefined || !opensAnApp(link)) return undefined
  return withoutUndefined({ name, description: textIfShort(textAt(app, 'description')), logo: webAddress(textAt(app, 'logo')), link })
}

/** Refuses schemes that would run in the page. */
function opensAnApp(link: string): boolean {
  const scheme = URL.parse(link)?.protocol
  return scheme !== undefined && !['javascript:', 'data:', 'vbscript:', 'blob:', 'file:', 'about:'].includes(scheme)
}

const webAddress = (text: string | undefined) => (/^https?:$/.test(URL.parse(textIfShort(text) ?? '')?.protocol ?? '') ? text : undefined)
const textIfShort = (text: string | undefined) => (text !== undefined && text.length <= textMax ? text : undefined)
