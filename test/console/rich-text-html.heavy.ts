/** Tests reading random HTML into the editor in Chromium: the output passes the sanitiser, and losses are reported. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { writeHtml } from '../../src/console/ui/rich-text/write-html.ts'
import { sanitize } from '../../src/core/html.ts'
import { allowedTags } from '../../src/lib/html-rules.ts'
import { chromium, startBrowser } from '../support/chromium.ts'
import { temporaryDir } from '../support/database.ts'
import { richDocuments } from '../support/rich-documents.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type Result = { readonly written: string; readonly again: string; readonly lost: readonly string[] }

/** Opens a page with the reader. */
async function readerPage() {
  const folder = join(import.meta.dir, '../../src/console/ui/rich-text')
  const entry = join(temporaryDir(), 'entry.ts')
  await Bun.write(
    entry,
    `import { lossOf, readHtml } from '${folder}/read-html.ts'
     import { writeHtml } from '${folder}/write-html.ts'
     globalThis.convert = (html) => {
       const doc = readHtml(html)
       const written = writeHtml(doc)
       return { written, again: writeHtml(readHtml(written)), lost: lossOf(html, doc) }
     }`,
  )
  const built = await Bun.build({ entrypoints: [entry], target: 'browser', format: 'iife' })
  const browser = await startBrowser(chromium ?? '')
  const page = await browser.openPage()
  await page.evaluate(`${await built.outputs[0]?.text()};1`)
  return {
    convert: async (htmls: readonly string[]) => (await page.evaluate(`${JSON.stringify(htmls)}.map(convert)`)) as Result[],
    [Symbol.asyncDispose]: () => browser[Symbol.asyncDispose](),
  }
}

const hostileTags = [
  'script',
  'style',
  'svg',
  'iframe',
  'form',
  'video',
  'o:p',
  'font',
  'center',
  'section',
  'title',
  'textarea',
  'template',
]
const fragment = fc.oneof(
  fc.constantFrom(...allowedTags, ...hostileTags).map((tag) => `<${tag}>`),
  fc.constantFrom(...allowedTags, ...hostileTags).map((tag) => `</${tag}>`),
  fc.constantFrom(
    '<a href="javascript:alert(1)">',
    '<a href=" java\nscript:x">',
    '<a href="https://a.example" onclick=alert(1) style="x:y">',
    '<img src=x onerror=alert(1)>',
    '<img src="https://a.example/x.png" alt>',
    '<img src="data:image/png;base64,x">',
    '<p style="mso-list:l0 level1">',
    '<span style="mso-list:Ignore">1.</span>',
    '<span style="font-weight:700">',
    '<td colspan=2 lang="">',
    '<!-- x --><![CDATA[',
    '<pre>\n\n',
  ),
  fc.constantFrom('text', ' ', '\n', '&amp;', '&lt;script>', '\u00a0', 'نص', '"'),
)
const pages = fc.array(fragment, { maxLength: 40 }).map((parts) => parts.join(''))

/** Converts in batches, because each call of the page takes some milliseconds. */
async function convertAll(htmls: readonly string[], check: (html: string, result: Result) => void): Promise<void> {
  await using reader = await readerPage()
  for (let from = 0; from < htmls.length; from += 100) {
    const batch = htmls.slice(from, from + 100)
    for (const [at, result] of (await reader.convert(batch)).entries()) check(batch[at] ?? '', result)
  }
}
const compact = (html: string) => html.replace(/\s+/g, '')
/** Inputs that once read differently the second time. */
const earlierFailures = ['&amp;</textarea></ul>"</a><span style="font-weight:700"></pre> <pre>\n  ']

test.skipIf(!chromium)('any HTML becomes HTML that the sanitiser returns unchanged, and that reads the same again', async () => {
  await convertAll([...earlierFailures, ...fc.sample(pages, 2_000)], (html, { written, again }) => {
    expect([html, sanitize(written, 'html')]).toEqual([html, written])
    expect([html, compact(again)]).toEqual([html, compact(written)])
  })
})

test.skipIf(!chromium)('HTML of the editor loses nothing when it is read', async () => {
  const texts = fc.constantFrom('a', 'b c', 'نص', 'x<y>&"', 'one\u00a0two')
  const small = fc.sample(richDocuments(texts), 300).map(writeHtml)
  await convertAll(small, (html, { lost }) => expect([html, lost]).toEqual([html, []]))
})

test.skipIf(!chromium)('deep nesting is flattened and keeps its text', async () => {
  await using reader = await readerPage()
  const [deep] = await reader.convert([`${'<div>'.repeat(1_000)}deep${'</div>'.repeat(1_000)}`])
  expect(deep?.written).toContain('deep')
  expect(sanitize(deep?.written ?? '', 'html')).toBe(deep?.written ?? '')
})
