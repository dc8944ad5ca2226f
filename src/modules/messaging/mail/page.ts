import { escapeHtml, readableColorOn, webAddress } from '../../../lib/markup.ts'
import { plainLines } from '../../../lib/plain-text.ts'
import { sha256 } from '../../../lib/seal.ts'
import type { Look } from './layout.ts'

/** Renders plain text of others with its line breaks. */
export const linesHtml = (text: string): string =>
  plainLines(text)
    .map((line) => `<bdi>${escapeHtml(line)}</bdi>`)
    .join('<br>')

/** An HTML page without scripts, and its content security policy. */
export type WebPage = { readonly html: string; readonly policy: string }

/**
 * Renders a page in a shop's appearance.
 * @param body trusted HTML
 * @param posts whether it contains a form that posts to the page's own URL
 */
export function webPage(look: Look, { title, body, posts = false }: { title: string; body: string; posts?: boolean }): WebPage {
  return documentOf(look, title, contentOf(look, { title, body }), posts)
}

/**
 * Renders a document for printing: each sheet starts a new page. Without the logo, so that nothing else has to load.
 * @param sheets bodies are trusted HTML
 */
export function printDocument(look: Look, title: string, sheets: readonly Sheet[]): WebPage {
  const plain = { ...look, logoUrl: null }
  const content = sheets
    .map((sheet) => {
      const sheetLook = { ...(sheet.look ?? look), logoUrl: null }
      return `<section class="sheet" lang="${sheetLook.words.language}" dir="${sheetLook.words.direction}">\n${contentOf(sheetLook, sheet)}\n</section>`
    })
    .join('\n')
  return documentOf(plain, title, content)
}

/** `look`: default is that of the document. */
type Sheet = { readonly title: string; readonly body: string; readonly look?: Look }

function contentOf(look: Look, { title, body }: Sheet): string {
  const logo = webAddress(look.logoUrl)
  const head = logo
    ? `<img class="logo" src="${escapeHtml(logo)}" alt="${escapeHtml(look.title)}">`
    : `<p class="shop"><bdi>${escapeHtml(look.title)}</bdi></p>`
  return `<header>${head}</header>
<main>
<h1>${escapeHtml(title)}</h1>
${body}
</main>`
}

function documentOf({ words, background, accent, logoUrl }: Look, title: string, content: string, posts = false): WebPage {
  const style = styleOf(background, accent)
  const logo = webAddress(logoUrl)
  const html = `<!doctype html>
<html lang="${words.language}" dir="${words.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
${content}
</body>
</html>
`
  const hash = Buffer.from(sha256(style), 'hex').toString('base64')
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    // Only images from the logo's origin.
    ...(logo ? [`img-src ${new URL(logo).origin}`] : []),
    "base-uri 'none'",
    `form-action ${posts ? "'self'" : "'none'"}`,
    "frame-ancestors 'none'",
  ].join('; ')
  return { html, policy }
}

const styleOf = (background: string, accent: string) => `*{box-sizing:border-box}
body{margin:0;padding:1.5rem 1rem;background:${background};color:#18181b;font:400 1rem/1.5 system-ui,sans-serif}
header,main{max-width:44rem;margin:0 auto 1rem}
header{color:${readableColorOn(background)}}
.logo{max-height:3rem;max-width:15rem}
.shop{font-size:1.2rem;font-weight:700;margin:0}
main{background:#fff;border-radius:.5rem;padding:1.5rem}
h1{font-size:1.5rem;line-height:1.3;margin:0 0 1rem;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:1.5rem 0 .5rem}
table{width:100%;border-collapse:collapse;margin:1rem 0}
th,td{padding:.4rem .25rem;text-align:start;vertical-align:top;overflow-wrap:anywhere}
th{border-bottom:1px solid #d4d4d8}
.n{text-align:end;white-space:nowrap}
.sum td,.sum th{font-weight:700;border-top:1px solid #d4d4d8;border-bottom:0}
.parties{display:flex;flex-wrap:wrap;gap:0 2rem}
.parties>div{flex:1 1 12rem}
.parties h2{margin-top:0}
tbody th,tfoot th{font-weight:400;border-bottom:0}
.status{display:inline-block;padding:.1rem .6rem;border-radius:1rem;background:#e4e4e7}
.note{color:#52525b}
.wrong{color:#b91c1c}
a{color:#1d4ed8}
label{display:block;margin:1rem 0 .25rem}
input,select{font:inherit;width:100%;padding:.6rem;border:1px solid #71717a;border-radius:.375rem}
button{font:inherit;font-weight:700;margin-top:1rem;padding:.7rem 1.4rem;border:0;border-radius:.375rem;background:${accent};color:${readableColorOn(accent)}}
form{margin:0 0 1rem}
summary{cursor:pointer;color:#1d4ed8}
.go{display:inline-block;font-weight:700;padding:.7rem 1.4rem;border-radius:.375rem;background:${accent};color:${readableColorOn(accent)}}
@media print{body{background:#fff;padding:0}main{padding:0}header{color:#000}.noprint{display:none}.sheet{break-after:page}.sheet:last-child{break-after:auto}tr{break-inside:avoid}}`
