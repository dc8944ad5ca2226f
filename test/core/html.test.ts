import { describe, expect, test } from 'bun:test'
import { htmlLengthMax, sanitize } from '../../src/core/html.ts'

const refusal = (message: string) => expect.objectContaining({ kind: 'INVALID', message: expect.stringContaining(message) })
function outcome(html: string): unknown {
  try {
    return sanitize(html, 'bodyHtml')
  } catch (error) {
    return error
  }
}

describe('sanitising', () => {
  test('sanitising does not change the HTML that an editor produces', () => {
    const link = '<a href="https://a.example" title="A" target="_blank" rel="noopener noreferrer nofollow">a</a>'
    const image = '<img src="https://a.example/a.png" alt="A" title="A" width="1" height="1" loading="lazy" />'
    const table =
      '<table><caption>a</caption><colgroup><col span="2" /></colgroup><thead><tr><th colspan="2" rowspan="1" scope="col">a</th></tr></thead>' +
      '<tbody><tr><td colspan="2" rowspan="1">a</td></tr></tbody><tfoot><tr><td>a</td></tr></tfoot></table>'
    const wrapEach = (tags: string) => tags.split(' ').map((tag) => `<${tag}>a</${tag}>`)
    const accepted = [
      ...wrapEach('h1 h2 h3 h4 h5 h6 p div span blockquote pre code b strong i em u s small sub sup mark figcaption'),
      ...['<br />', '<hr />', '<ul><li>a</li></ul>', '<ol><li>a</li></ol>', '<dl><dt>a</dt><dd>a</dd></dl>'],
      ...[link, image, `<figure>${image}</figure>`, table, '<p lang="ar" dir="rtl">a</p>'],
      ...['<img src="http://a.example" />', '<img src="/a.png" />'],
    ]
    for (const html of accepted) expect(outcome(html)).toBe(html)
    for (const href of ['http://a.example', 'https://a.example', 'mailto:a@a.example', 'tel:+1', '/a', '#a'])
      expect(outcome(`<a href="${href}">a</a>`)).toBe(`<a href="${href}" rel="noopener noreferrer nofollow">a</a>`)
  })

  test('sanitising removes scripts, styles, frames, event handlers and unsafe links', () => {
    const changed: [html: string, clean: string][] = [
      ['<script>alert(1)</script>a', 'a'],
      ['<style>p { color: red }</style>a', 'a'],
      ['<iframe src="https://a.example">a</iframe>', 'a'],
      ['<p onclick="alert(1)" style="position: fixed" class="a" id="a">a</p>', '<p>a</p>'],
      ['<a href="javascript:alert(1)" rel="opener">a</a>', '<a rel="noopener noreferrer nofollow">a</a>'],
      ['<a href="//a.example">a</a>', '<a rel="noopener noreferrer nofollow">a</a>'],
      ['<img src="data:image/png;base64,AA==" />', '<img />'],
      ['<img src="mailto:a@a.example" />', '<img />'],
      ['<img src="//a.example/a.png" />', '<img />'],
    ]
    for (const [html, clean] of changed) expect([html, outcome(html)]).toEqual([html, clean])
  })

  test('sanitising accepts tags nested up to 64 levels, and drops deeper tags', () => {
    const nested = (depth: number) => `${'<b>'.repeat(depth)}a${'</b>'.repeat(depth)}`
    expect(outcome(nested(64))).toBe(nested(64))
    expect(outcome(nested(65))).toBe(nested(64))
  })

  test("sanitising accepts at most 5,000 tags, closed or not, so that the parser's work is bounded", () => {
    for (const [unit, times] of [
      ['<b>', 5_000],
      ['<p></p>', 2_500],
      ['<div>', 5_000],
      ['<!--', 5_000],
      ['<script>', 5_000],
    ] as const) {
      expect([unit, typeof outcome(unit.repeat(times))]).toEqual([unit, 'string'])
      expect([unit, outcome(`${unit.repeat(times)}<b>`)]).toEqual([unit, refusal('bodyHtml: must have at most 5000 tags')])
    }
    expect(outcome('<'.repeat(htmlLengthMax))).toEqual(refusal('at most 5000 tags'))
  })

  test('sanitising rejects HTML whose result is longer than 64 KiB', () => {
    const ampersands = Math.floor(htmlLengthMax / '&amp;'.length)
    expect(outcome('&'.repeat(ampersands))).toBe('&amp;'.repeat(ampersands))
    expect(outcome('&'.repeat(ampersands + 1))).toEqual(refusal('bodyHtml: must have at most 65536 characters'))
    expect(outcome('<a href="https://a.example">a</a>'.repeat(1_900))).toEqual(refusal('at most 65536 characters'))
    expect(outcome('x'.repeat(htmlLengthMax))).toBe('x'.repeat(htmlLengthMax))
    expect(outcome('x'.repeat(htmlLengthMax + 1))).toEqual(refusal('at most 65536 characters'))
  })
})
