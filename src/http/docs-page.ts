/** The pages for people: home and documentation. They load nothing from other hosts. */

/** The documentation page: Swagger UI, started by our script. */
export const docsHtml = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>souk · API documentation</title>
<link rel="icon" href="/docs/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/page.css">
</head>
<body>
<header class="bar"><a href="/">souk</a><span>API documentation</span><a class="plain" href="/docs/json">OpenAPI document</a></header>
<div id="docs"><noscript><p class="note">This page requires JavaScript. The OpenAPI document needs none: <a href="/docs/json">/docs/json</a>.</p></noscript></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/page.js"></script>
</body>
</html>
`

/**
 * Starts Swagger UI and adds what screen readers and keyboards need: field names, landmarks, ordered headings, and no
 * nested controls. test/http/docs-browser.heavy.ts checks the page.
 */
export const docsScript = `const docs = document.getElementById('docs')

/** Moves links and copy buttons out of the button that opens an operation: inside it, a keyboard cannot reach them. */
const plainSummaries = ({ React }) => ({
  wrapComponents: {
    DeepLink: () => ({ text }) => React.createElement('span', null, text),
    CopyToClipboardBtn: () => () => null,
  },
})

const nameOf = (field) =>
  field.closest('[data-param-name]')?.dataset.paramName ??
  (field.id === 'servers' ? 'Server' : field.closest('label')?.textContent.trim() || field.getAttribute('name') || 'Value')
const isNamed = (field) =>
  [...(field.labels ?? [])].some((label) => label !== field.parentElement && label.textContent.trim() !== '') || ['aria-label', 'aria-labelledby', 'title', 'placeholder'].some((name) => field.getAttribute(name))

const landmarks = [
  ['.information-container', 'About this API'],
  ['.scheme-container', 'Server and credentials'],
  ['.filter-container', 'Filter'],
]

function set(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value)
}
const each = (selector, change) => docs.querySelectorAll(selector).forEach(change)

function moveInnerControls() {
  each('select, input, textarea', (field) => isNamed(field) || set(field, 'aria-label', nameOf(field)))
  each('.close-modal', (button) => set(button, 'aria-label', 'Close'))
  each('pre.microlight, pre.microlight code, .highlight-code > *, .model-box, .renderedMarkdown pre', (box) => set(box, 'tabindex', '0'))
  each('table.responses-table', (table) => set(table, 'role', 'table'))
  each('button[aria-label="Apply credentials"]', (button) => set(button, 'aria-label', button.textContent))
  for (const [selector, name] of landmarks)
    each(selector, (section) => {
      set(section, 'role', 'region')
      set(section, 'aria-label', name)
    })
  // A level that skips one becomes the next one.
  let last = 0
  each('h1, h2, h3, h4, h5, h6', (heading) => {
    last = Math.min(Number(heading.tagName[1]), last + 1)
    set(heading, 'aria-level', String(last))
  })
}

new MutationObserver(moveInnerControls).observe(docs, { childList: true, subtree: true })

window.SwaggerUIBundle({
  url: '/docs/json',
  dom_id: '#docs',
  deepLinking: true,
  // Sections are collapsed, because rendering all operations takes seconds and crashes some browsers.
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  queryConfigEnabled: false,
  validatorUrl: null,
  plugins: [plainSummaries],
})
`

export const docsStyle = `body { margin: 0; background: #fff; }
.bar { display: flex; gap: 1.25rem; align-items: baseline; padding: .9rem 1.5rem; background: #1f2a2e; color: #cfd8d6; font: 400 .95rem/1.4 system-ui, sans-serif; }
.bar a { color: #fff; font-weight: 650; text-decoration: none; }
.bar a:hover { text-decoration: underline; }
.bar .plain { margin-left: auto; font-weight: 400; }
.note { padding: 2rem; font: 400 1rem/1.5 system-ui, sans-serif; }
.swagger-ui .info { margin: 2rem 0 1.5rem; }
/* Enough contrast (WCAG 2.2, AA), where Swagger UI has too little. */
.swagger-ui .info .title small, .swagger-ui .info .title small.version-stamp { background: #4b5563; }
.swagger-ui .info .title small.version-stamp { background: #3f6212; }
.swagger-ui a, .swagger-ui a.nostyle, .swagger-ui .info a, .swagger-ui .info__license__url a, .swagger-ui .info .url, .swagger-ui .link { color: #1d4ed8; }
.swagger-ui .btn.authorize, .swagger-ui .btn.authorize span { color: #166534; border-color: #166534; }
.swagger-ui .btn.authorize svg { fill: #166534; }
.swagger-ui .btn.cancel { color: #b91c1c; border-color: #b91c1c; }
.swagger-ui .btn.execute { background: #1d4ed8; border-color: #1d4ed8; }
.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #1d4ed8; }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #166534; }
.swagger-ui .opblock.opblock-put .opblock-summary-method { background: #92400e; }
.swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #0f5e59; }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #b91c1c; }
.swagger-ui .markdown code, .swagger-ui .renderedMarkdown code { color: #6b21a8; }
.swagger-ui .parameter__in, .swagger-ui .parameter__deprecated, .swagger-ui .prop-format { color: #4b5563; }
.swagger-ui .json-schema-2020-12-expand-deep-button, .swagger-ui .json-schema-2020-12__attribute--muted { color: #374151; }
.swagger-ui .microlight span[style*="rgb(211, 99, 99)"] { color: #ff9c9c !important; }
`

export const favicon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#b4532a"/><path d="M5 14 8 6h16l3 8a3.6 3.6 0 0 1-7 .6 4 4 0 0 1-8 0A3.6 3.6 0 0 1 5 14Zm3 5h16v7H8Z" fill="#fff"/></svg>
`

export const homeStyle = `:root { color-scheme: light dark; --ink: #1f2a2e; --soft: #5c6a6c; --ground: #faf7f2; --card: #fff; --line: #e4dccf; --warm: #b4532a; }
@media (prefers-color-scheme: dark) { :root { --ink: #eef2f0; --soft: #a3b0ae; --ground: #14191b; --card: #1c2326; --line: #2e383b; --warm: #e58a5e; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 2rem 1.25rem; background: var(--ground); color: var(--ink); font: 400 1.05rem/1.6 system-ui, sans-serif; }
main { width: min(40rem, 100%); }
h1 { margin: 0; font-size: 3rem; line-height: 1.1; letter-spacing: -.03em; }
h1 span { color: var(--warm); }
.version { margin: .4rem 0 1.4rem; color: var(--soft); font-variant-numeric: tabular-nums; }
ul { list-style: none; margin: 2rem 0 0; padding: 0; display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: .8rem; }
li a { display: block; height: 100%; padding: 1rem 1.15rem; border: 1px solid var(--line); border-radius: .75rem; background: var(--card); color: inherit; text-decoration: none; }
li a:hover, li a:focus-visible { border-color: var(--warm); }
li strong { display: block; color: var(--warm); }
li span { color: var(--soft); font-size: .92rem; }
footer { margin-top: 2rem; color: var(--soft); font-size: .92rem; }
footer a { margin-inline-start: .6rem; color: inherit; }
`

/** Renders the home page. */
export const homeHtml = (version: string, hasConsole: boolean) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>souk</title>
<link rel="icon" href="/docs/favicon.svg" type="image/svg+xml">
<style>${homeStyle}</style>
</head>
<body>
<main>
<h1>souk<span>.</span></h1>
<p class="version">Version ${version}</p>
<p>A commerce backend: products, carts, orders and payments behind one HTTP API.</p>
<ul>
${hasConsole ? '<li><a href="/console"><strong>Console</strong><span>Manage your shop</span></a></li>\n' : ''}<li><a href="/docs"><strong>API reference</strong><span>Every route with its fields and responses</span></a></li>
<li><a href="/docs/json"><strong>OpenAPI document</strong><span>For tools and generated clients</span></a></li>
</ul>
<footer>Health checks: <a href="/health/ready">Readiness</a> <a href="/health/live">Liveness</a></footer>
</main>
</body>
</html>
`
