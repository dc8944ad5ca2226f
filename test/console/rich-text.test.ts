/** Tests that the editor of descriptions writes only what the server's sanitiser keeps. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { openConsoleFiles } from '../../src/clients/console/files.ts'
import { schema } from '../../src/console/ui/rich-text/schema.ts'
import { writeHtml } from '../../src/console/ui/rich-text/write-html.ts'
import { sanitize } from '../../src/core/html.ts'
import { allowedTags, isAllowedUrl, linkSchemes } from '../../src/lib/html-rules.ts'
import { richDocuments } from '../support/rich-documents.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('what the editor writes passes the sanitiser unchanged', () => {
  fc.assert(
    fc.property(richDocuments(), (doc) => {
      const html = writeHtml(doc)
      expect(sanitize(html, 'html')).toBe(html)
    }),
    { numRuns: 500, includeErrorInReport: true },
  )
})

test('marks of white space at the edges of a block are not written, except in pre', () => {
  const strong = [schema.mark('strong')]
  const inline = [schema.text('\n', strong), schema.text('a'), schema.text(' ', strong), schema.text('b'), schema.text(' \t', strong)]
  const htmlOf = (tag: string, content = inline) => writeHtml(schema.node('doc', null, [schema.node(tag, { bare: false }, content)]))
  expect(htmlOf('p')).toBe('<p>\na<strong> </strong>b \t</p>')
  expect(htmlOf('h2', inline.slice(0, 1))).toBe('<h2>\n</h2>')
  expect(htmlOf('p', [schema.text('\u00a0', strong)])).toBe('<p><strong>\u00a0</strong></p>')
  expect(htmlOf('pre')).toBe('<pre><strong>\n</strong>a<strong> </strong>b<strong> \t</strong></pre>')
})

test('the editor knows every element that the sanitiser keeps, and no other', () => {
  const elements = [...Object.keys(schema.nodes), ...Object.keys(schema.marks)].filter((name) => name !== 'doc' && name !== 'text')
  expect([...elements, 'b', 'i'].toSorted()).toEqual([...allowedTags].toSorted())
})

test('a URL that the sanitiser would remove is refused', () => {
  const hostile = ['javascript:alert(1)', ' JavaScript:alert(1)', 'java\nscript:x', 'java\u0000script:x', 'data:text/html,x', 'vbscript:x']
  for (const url of [...hostile, '//other.example', '\\\\other.example', '/\t/other.example', 'a<!-- -->:x', '', ' ', 'file:///c'])
    expect([url, isAllowedUrl(url, linkSchemes)]).toEqual([url, false])
  for (const url of ['https://a.example', '/x', '#x', 'mailto:a@b.example', 'a/b:c', '?a=b:c', 'HTTPS://a.example'])
    expect([url, isAllowedUrl(url, linkSchemes)]).toEqual([url, true])
})

test('the editor is one file, which the first load does not contain', async () => {
  const { entry, files } = await openConsoleFiles()
  const textOf = (name: string) => new TextDecoder().decode(files.get(name)?.body as Uint8Array)
  const withEditor = [...files.keys()].filter((name) => name.endsWith('.js') && textOf(name).includes('ProseMirror-separator'))
  expect(withEditor.length).toBe(1)
  for (const name of [entry.script, entry.begin, entry.late, ...entry.preloads]) expect(withEditor).not.toContain(name)
})
