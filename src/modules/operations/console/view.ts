import type { ConsoleEntry } from '../../../core/console-files.ts'

export const assetsPath = '/console/assets'

/** Allows only this origin and no inline code. `blob:` shows pictures before their upload. */
const consolePolicy = [
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

/** Browser features that the console does not use. */
const unusedFeatures = ['accelerometer', 'camera', 'geolocation', 'gyroscope', 'magnetometer', 'microphone', 'midi', 'payment', 'usb']

export const consoleHeaders = {
  'content-security-policy': consolePolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': unusedFeatures.map((name) => `${name}=()`).join(', '),
  'referrer-policy': 'same-origin',
  'x-robots-tag': 'noindex, nofollow',
}

type Texts = readonly (readonly [language: string, text: string])[]

/** The text without JavaScript, in every language of the console. */
const noScript: Texts = [
  ['en', 'This page requires JavaScript. Enable it for this site and reload the page. Everything is also available through the API:'],
  ['ar', 'تتطلب هذه الصفحة JavaScript. فعّله لهذا الموقع ثم أعد تحميل الصفحة. كل شيء متاح أيضًا عبر API:'],
  ['mn', 'Энэ хуудсанд JavaScript шаардлагатай. Энэ сайтад зөвшөөрөөд хуудсыг дахин ачаална уу. Бүх зүйлийг API-аар ч хийж болно:'],
]

/**
 * The text if the script does not load or run. bootstrap.ts and bootstrap-fallback.ts show it at once
 * (`startup-failed`), the style sheet after a while. It disappears when the page starts.
 */
const notStarted: Texts = [
  [
    'en',
    'This page didn’t start. If your connection is slow, wait a moment; otherwise reload the page. If that doesn’t help, your browser may be outdated, or the server unavailable.',
  ],
  [
    'ar',
    'لم تبدأ هذه الصفحة. إذا كان الاتصال بطيئًا فانتظر قليلًا، وإلا فأعد تحميل الصفحة. إذا لم يفد ذلك فقد يكون متصفحك قديمًا أو الخادم غير متاح.',
  ],
  [
    'mn',
    'Энэ хуудас эхэлсэнгүй. Холболт удаан бол түр хүлээнэ үү, үгүй бол хуудсыг дахин ачаална уу. Тус болохгүй бол хөтөч хуучирсан, эсвэл сервер ажиллахгүй байж магадгүй.',
  ],
]

const paragraphs = (texts: Texts, more = ''): string =>
  texts.map(([language, text]) => `<p lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">${text}${more}</p>\n`).join('')

/**
 * Builds the page, which is the same for every path.
 * @param version the page detects upgrades by it
 */
export function consoleHtml({ begin, late, script, styles, preloads }: ConsoleEntry, version: string): string {
  const urlOf = (name: string) => `${assetsPath}/${name}`
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
<script async src="${urlOf(begin)}" data-then="${urlOf(script)}"></script>
<link rel="icon" href="/docs/favicon.svg" type="image/svg+xml">
${styles.map((name) => `<link rel="stylesheet" href="${urlOf(name)}">\n`).join('')}${[...preloads, script].map((name) => `<link rel="modulepreload" href="${urlOf(name)}">\n`).join('')}</head>
<body>
<div id="root"></div>
<div class="startup-message" role="main">
<p role="heading" aria-level="1">souk</p>
<div role="alert">
${paragraphs(notStarted)}</div>
</div>
<noscript>
<main>
<h1>souk</h1>
${paragraphs(noScript, ' <a href="/docs">/docs</a>')}</main>
</noscript>
<script async src="${urlOf(late)}" data-then="${urlOf(script)}" fetchpriority="low"></script>
</body>
</html>
`
}
