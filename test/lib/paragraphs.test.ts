import { expect, setDefaultTimeout, test } from 'bun:test'
import { withParagraphs } from '../../src/lib/paragraphs.ts'
import { growthOf, linearMax } from '../support/growth.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test.each([
  ['one', '<p>one</p>'],
  ['one\n\ntwo', '<p>one</p>\n<p>two</p>'],
  ['one\r\n\r\n  \r\ntwo\r\nthree', '<p>one</p>\n<p>two<br>three</p>'],
  ['a <b>bold</b> word\n\n<i>two</i>', '<p>a <b>bold</b> word</p>\n<p><i>two</i></p>'],
  ['<p>one</p>\n<p>two</p>', '<p>one</p>\n<p>two</p>'],
  ['<p>one\ntwo</p>', '<p>one<br>two</p>'],
  ['Intro\n<ul>\n<li>a</li>\n<li>b\nc</li>\n</ul>\nEnd\n\nLast', '<p>Intro</p><ul><li>a</li><li>b<br>c</li></ul><p>End</p>\n<p>Last</p>'],
  ['<div>one\n\ntwo</div>', '<div><p>one</p>\n<p>two</p></div>'],
  ['<pre>a\n\nb</pre>', '<pre>a\n\nb</pre>'],
  ['one<br>\ntwo<br />\nthree', '<p>one<br>two<br>three</p>'],
  [
    '<!-- wp:paragraph -->\n<p>one</p>\n<!-- /wp:paragraph -->\n\n<!-- wp:heading -->\n<h2>two</h2>\n<!-- /wp:heading -->',
    '<p>one</p><h2>two</h2>',
  ],
  ['<strong>one\n\ntwo</strong> three\n\nfour', '<p><strong>one</strong></p>\n<p><strong>two</strong> three</p>\n<p>four</p>'],
  ['<B>one\n<ul><li>two</li></ul>\nthree</b>', '<p><B>one</b></p><ul><li>two</li></ul><p><b>three</b></p>'],
  ['<b>one\n<p>two</b></p>\nthree', '<p><b>one</b></p>\n<p>two</b></p>\n<p>three</p>'],
  ['<b>a <i>b</b>\n\nc</i>', '<p><b>a <i>b</b></i></p>\n<p><i>c</i></p>'],
  ['<h2>Title</h2>\nText', '<h2>Title</h2><p>Text</p>'],
  ['5 < 6\n\n7 > 6', '<p>5 < 6</p>\n<p>7 > 6</p>'],
  ['', ''],
])('withParagraphs converts %j to %j', (text, html) => {
  expect(withParagraphs(text)).toBe(html)
})

test.each(['<p', '<!--', '<p>', '\n', '\n ', '<br>\n', '<div ', '< p', '\n\nx', '<b>\n\n', '</b>\n\n<i>'])(
  'withParagraphs takes linear time for a text of only %j',
  (piece) => {
    expect(growthOf((length) => void withParagraphs(piece.repeat(length / piece.length)), 100_000)).toBeLessThan(linearMax)
  },
)
