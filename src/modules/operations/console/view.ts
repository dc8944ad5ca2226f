import type { ConsoleEntry } from '../../../core/console-files.ts'

/** Where the page's files lie. */
export const assetsPath = '/console/assets'

/** What the page may load and ask: this origin, and nothing that stands inline. Pictures are shown before they are sent (`blob:`). */
export const consolePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types souk',
].join('; ')

/** What the browser has and the console does not use. */
const unused = ['accelerometer', 'camera', 'geolocation', 'gyroscope', 'magnetometer', 'microphone', 'midi', 'payment', 'usb']

export const consoleHeaders = {
  'content-security-policy': consolePolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': unused.map((name) => `${name}=()`).join(', '),
  'referrer-policy': 'same-origin',
  'x-robots-tag': 'noindex, nofollow',
}

type Texts = readonly (readonly [language: string, text: string])[]

/** What is said where no script runs, in every language of the console. */
const noScript: Texts = [
  [
    'en',
    'This page needs JavaScript: switch it on for this address and load the page again. Everything it does can be done by the API too:',
  ],
  ['ar', 'تحتاج هذه الصفحة إلى JavaScript: فعّله لهذا العنوان ثم أعد تحميل الصفحة. كل ما تفعله يمكن فعله عبر واجهة البرمجة أيضًا:'],
  ['mn', 'Энэ хуудсанд JavaScript хэрэгтэй: энэ хаягт зөвшөөрөөд хуудсыг дахин ачаална уу. Энд хийдэг бүхнийг API-аар ч хийж болно:'],
]

/**
 * What is said where the script does not come, or does not run: at once where begin.ts or late.ts has seen that (`cannot-begin`), else by the style
 * sheet, after a while. Without either it is there from the beginning, and goes when the page begins.
 */
const notBegun: Texts = [
  [
    'en',
    'This page has not begun. Where the connection is slow, wait a while; else load it again. If that changes nothing, the browser may be too old for it, or the server is away.',
  ],
  [
    'ar',
    'لم تبدأ هذه الصفحة بعد. إن كان الاتصال بطيئًا فانتظر قليلًا، وإلا فأعد تحميلها. فإن لم يتغير شيء فقد يكون المتصفح قديمًا جدًا لها، أو الخادم لا يجيب.',
  ],
  [
    'mn',
    'Энэ хуудас эхэлсэнгүй. Холболт удаан бол түр хүлээнэ үү, үгүй бол дахин ачаална уу. Өөрчлөгдөхгүй бол хөтөч хэт хуучин, эсвэл сервер хариу өгөхгүй байж магадгүй.',
  ],
]

const paragraphs = (texts: Texts, more = ''): string =>
  texts.map(([language, text]) => `<p lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">${text}${more}</p>\n`).join('')

/**
 * The page: one for every path of it.
 * @param version of the program, by which the page notices an upgrade
 */
export function consoleHtml({ begin, late, script, styles, preloads }: ConsoleEntry, version: string): string {
  const at = (name: string) => `${assetsPath}/${name}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#faf7f2" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#14191b" media="(prefers-color-scheme: dark)">
<meta name="souk:version" content="${version}">
<title>souk</title>
<script async src="${at(begin)}" data-then="${at(script)}"></script>
<link rel="icon" href="/docs/favicon.svg" type="image/svg+xml">
${styles.map((name) => `<link rel="stylesheet" href="${at(name)}">\n`).join('')}${[...preloads, script].map((name) => `<link rel="modulepreload" href="${at(name)}">\n`).join('')}</head>
<body>
<div id="root"></div>
<div class="not-begun" role="main">
<p role="heading" aria-level="1">souk</p>
<div role="alert">
${paragraphs(notBegun)}</div>
</div>
<noscript>
<main>
<h1>souk</h1>
${paragraphs(noScript, ' <a href="/docs">/docs</a>')}</main>
</noscript>
<script async src="${at(late)}" data-then="${at(script)}" fetchpriority="low"></script>
</body>
</html>
`
}
