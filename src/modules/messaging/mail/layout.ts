import { escapeHtml, readableColorOn, webAddress } from '../../../lib/markup.ts'
import { plainText } from '../../../lib/plain-text.ts'
import { subjectMax } from './domain.ts'
import type { Phrasebook } from './texts.ts'

/** The appearance of a shop's mails and pages. */
export type Look = {
  /** One line of visible text: `plainText`. */
  readonly title: string
  readonly logoUrl: string | null
  /** As `#1f2937`. */
  readonly accent: string
  readonly background: string
  readonly words: Phrasebook
}
export const defaultLook = { accent: '#1f2937', background: '#f4f4f5' } as const

/** The content of a mail before layout. Texts of other parties have passed `plainText`. */
export type MailText = {
  readonly subject: string
  readonly heading: string
  /** Line ends in a paragraph stay. */
  readonly paragraphs: readonly string[]
  readonly lines?: readonly { readonly what: string; readonly count: string; readonly amount?: string | undefined }[]
  /** Follows the lines if some are left out. */
  readonly more?: string | undefined
  readonly totals?: readonly { readonly what: string; readonly amount: string; readonly isSum?: boolean }[]
  readonly facts?: readonly { readonly what: string; readonly value: string }[]
  readonly button?: { readonly what: string; readonly url: string } | undefined
  /** Paragraphs of the shop after the button. */
  readonly closing?: readonly string[]
  readonly notes?: readonly string[]
  /** The link that ends mails of this kind. */
  readonly unsubscribe?: { readonly what: string; readonly url: string }
}

/** Renders a mail as text and HTML. */
export function renderLayout(look: Look, mailText: MailText): { subject: string; text: string; html: string } {
  return { subject: plainText(mailText.subject, subjectMax), text: textOf(look, mailText), html: htmlOf(look, mailText) }
}

function textOf({ title, words: { say } }: Look, mailText: MailText): string {
  const {
    heading,
    paragraphs,
    lines = [],
    more: moreLines,
    totals = [],
    facts = [],
    button,
    closing = [],
    notes = [],
    unsubscribe,
  } = mailText
  const blocks = [
    [heading],
    ...paragraphs.map((one) => [one]),
    [
      ...lines.map(({ what, count, amount }) => [`- ${what} ${count}`, amount].filter(Boolean).join(': ')),
      ...(moreLines ? [`- ${moreLines}`] : []),
    ],
    totals.map(({ what, amount }) => `${what}: ${amount}`),
    facts.map(({ what, value }) => `${what}: ${value}`),
    button ? [`${button.what}:`, button.url] : [],
    ...closing.map((one) => [one]),
    notes,
    unsubscribe ? [`${unsubscribe.what}: ${unsubscribe.url}`] : [],
    ['-- ', say.sentBy(title)],
  ]
  return `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n'))
    .join('\n\n')}\n`
}

// Mail programs support tables, inline styles and little else.
const font = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const table = 'role="presentation" cellpadding="0" cellspacing="0" border="0"'
const paragraph = (text: string) => `<p style="margin:0 0 16px">${escapeHtml(text).replaceAll('\n', '<br>')}</p>`
const bdi = (text: string) => `<bdi>${escapeHtml(text)}</bdi>`

function htmlOf({ title, logoUrl, accent, background, words: { say, language, direction } }: Look, mailText: MailText): string {
  const {
    heading,
    paragraphs,
    lines = [],
    more: moreLines,
    totals = [],
    facts = [],
    button,
    closing = [],
    notes = [],
    unsubscribe,
  } = mailText
  const [start, end] = direction === 'rtl' ? ['right', 'left'] : ['left', 'right']
  const cell = (content: string, style: string) => `<td style="padding:6px 0;text-align:${style}">${content}</td>`
  const rows = (all: readonly string[]) =>
    all.length === 0 ? '' : `<table ${table} width="100%" style="margin:16px 0">${all.join('')}</table>`
  const logo = webAddress(logoUrl)
  const url = button && webAddress(button.url)
  const onBackground = readableColorOn(background)
  const body = [
    `<h1 style="${font};font-size:22px;line-height:1.3;margin:0 0 16px">${escapeHtml(heading)}</h1>`,
    ...paragraphs.map(paragraph),
    rows([
      ...lines.map(
        ({ what, count, amount }) =>
          `<tr>${cell(`${bdi(what)} ${bdi(count)}`, start)}${amount === undefined ? '' : cell(bdi(amount), `${end};white-space:nowrap`)}</tr>`,
      ),
      ...(moreLines ? [`<tr>${cell(escapeHtml(moreLines), start)}</tr>`] : []),
    ]),
    rows(
      totals.map(({ what, amount, isSum }) => {
        const weight = isSum ? ';font-weight:bold;border-top:1px solid #d4d4d8' : ''
        return `<tr>${cell(escapeHtml(what), `${start}${weight}`)}${cell(bdi(amount), `${end};white-space:nowrap${weight}`)}</tr>`
      }),
    ),
    rows(facts.map(({ what, value }) => `<tr>${cell(`${escapeHtml(what)}: ${bdi(value)}`, start)}</tr>`)),
    button && url
      ? `<table ${table} style="margin:24px 0"><tr><td bgcolor="${accent}" style="border-radius:6px"><a href="${escapeHtml(url)}" style="${font};display:inline-block;padding:12px 24px;color:${readableColorOn(accent)};text-decoration:none;font-weight:bold">${escapeHtml(button.what)}</a></td></tr></table>
<p style="margin:0 0 16px;font-size:13px;color:#52525b">${escapeHtml(say.linkHelp)}<br><a href="${escapeHtml(url)}" style="color:#1d4ed8;word-break:break-all">${escapeHtml(url)}</a></p>`
      : '',
    ...closing.map(paragraph),
    ...notes.map((one) => `<p style="margin:0 0 16px;font-size:13px;color:#52525b">${escapeHtml(one)}</p>`),
    unsubscribe
      ? `<p style="margin:0;font-size:13px"><a href="${escapeHtml(unsubscribe.url)}" style="color:#52525b">${escapeHtml(unsubscribe.what)}</a></p>`
      : '',
  ]
  const head = logo
    ? `<img src="${escapeHtml(logo)}" alt="${escapeHtml(title)}" height="48" style="display:block;max-height:48px;max-width:240px;border:0">`
    : `<strong style="font-size:18px">${bdi(title)}</strong>`
  return `<!doctype html>
<html lang="${language}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(mailText.subject)}</title>
</head>
<body style="margin:0;padding:0;background:${background}">
<table ${table} width="100%" bgcolor="${background}"><tr><td align="center" style="padding:24px 12px">
<table ${table} width="100%" dir="${direction}" style="max-width:600px;${font};font-size:16px;line-height:1.5;color:#18181b;text-align:${start}">
<tr><td style="padding:0 0 16px;color:${onBackground}">${head}</td></tr>
<tr><td bgcolor="#ffffff" style="background:#ffffff;border-radius:8px;padding:24px">
${body.filter((part) => part !== '').join('\n')}
</td></tr>
<tr><td style="padding:16px 0 0;font-size:13px;color:${onBackground}">${escapeHtml(say.sentBy(title))}</td></tr>
</table>
</td></tr></table>
</body>
</html>
`
}
