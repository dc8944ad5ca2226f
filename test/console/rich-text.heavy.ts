/** Tests the editor of descriptions in Chromium: keyboard, paste, and HTML whose bytes stay unchanged. */
import { expect, setDefaultTimeout } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sanitize } from '../../src/core/html.ts'
import { usd } from '../support/catalog.ts'
import { consoleTests } from '../support/console-tests.ts'
import type { ConsoleVisitor } from '../support/console-visitor.ts'
import { temporaryDir } from '../support/database.ts'
import { ok } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** A picture of one pixel. */
const dot = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

/** Hand-written HTML, with an order, spaces and quotes that no serializer writes. */
const untouched = '<div>Plain   text<br />and more</div>\n<ul>\n<li><p>One</p></li>\n</ul><table><tr><td colspan="2">Size</td></tr></table>'
const { test } = consoleTests({
  fill: async ({ shop }) => {
    const add = async (title: string, html: string) =>
      (await shop.add({ title, descriptionHtml: html, variants: [{ price: usd(900), onHand: 1 }] })).id
    return {
      kept: await add('Kept', untouched),
      arabic: await add('Arabic', '<p>مرحبا بالعالم</p>'),
      plain: await add('Plain', '<p>Old</p>'),
    }
  },
})

const text = '.editor-text'
const htmlOf = (visitor: ConsoleVisitor) => visitor.page.evaluate(`document.querySelector('${text}').innerHTML`)
/** Pastes as a browser does, with formats of the clipboard. */
const paste = (visitor: ConsoleVisitor, html: string) =>
  visitor.page.evaluate(`(() => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/html', ${JSON.stringify(html)})
    clipboardData.setData('text/plain', 'plain')
    document.querySelector('${text}').dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  })()`)

test('a description is written by keyboard only, and the API stores it unchanged', async ({ open, shop }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products/new` })
  await visitor.heading('Add product')
  await visitor.keyFill('Title', 'Kettle')
  await visitor.fill('Price (USD)', '9')
  await visitor.tabTo('Description', { role: 'textbox', back: true })
  await visitor.key('Control+b')
  await visitor.type('Strong')
  await visitor.key('Control+b')
  await visitor.type(' kettle')
  await visitor.key('Enter')
  await visitor.tabTo('Bold', { back: true })
  await visitor.key('ArrowRight')
  await visitor.key('ArrowRight')
  await visitor.keyboardAt('Heading', { role: 'button' })
  await visitor.key('Enter')
  await visitor.keyboardAt('Description')
  await visitor.type('Care')
  await visitor.key('Enter')
  await visitor.press('Bulleted list')
  await visitor.type('Rinse')
  await visitor.key('Enter')
  await visitor.type('Dry')
  await visitor.key('Enter')
  await visitor.key('Enter')
  await visitor.press('Link')
  await visitor.keyFill('Address', 'javascript:alert(1)')
  await visitor.key('Enter')
  await visitor.text('Enter an address such as')
  await visitor.keyFill('Address', 'shop.example/care')
  await visitor.key('Enter')
  await visitor.keyboardAt('Description')
  expect(await visitor.axe()).toEqual([])
  await visitor.type('x')
  await visitor.key('Control+z')
  await visitor.press('Add product')
  await visitor.heading('Kettle')
  const { data } = ok(await shop.get('/product-v2?q=kettle')).body
  const rel = 'rel="noopener noreferrer nofollow"'
  expect(data[0].descriptionHtml).toBe(
    `<p><strong>Strong</strong> kettle</p><h2>Care</h2><ul><li>Rinse</li><li>Dry</li></ul><p><a href="https://shop.example/care" ${rel}>https://shop.example/care</a></p>`,
  )
  expect(await visitor.has('Some unsafe HTML')).toBe(false)
})

test('text of Word, Google Docs and hostile pages becomes allowed elements', async ({ open, shop, data }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products/${data.plain}` })
  await visitor.tabTo('Description', { role: 'textbox' })
  const word = `<html xmlns:o="urn:x"><head><style>p.MsoNormal{color:red}</style></head><body lang=EN-US><!--StartFragment-->
    <p class=MsoNormal style='margin:0'><b><span style='font-size:14.0pt'>Word<o:p></o:p></span></b></p>
    <p class=MsoListParagraph style='text-indent:-.25in;mso-list:l0 level1 lfo1'><![if !supportLists]><span style='font-family:Symbol'><span style='mso-list:Ignore'>·<span>&nbsp;&nbsp;</span></span></span><![endif]>First</p>
    <p class=MsoListParagraph style='mso-list:l0 level1 lfo1'><span style='mso-list:Ignore'>·</span>Second</p><!--EndFragment--></body></html>`
  const docs = `<meta charset='utf-8'><b style="font-weight:normal;" id="docs-internal-guid-1"><p dir="ltr" style="line-height:1.38"><span style="font-weight:400">Docs </span><span style="font-weight:700">bold</span><span style="font-style:italic">slanted</span></p><ol><li dir="ltr"><p dir="ltr"><span>Numbered</span></p></li></ol></b>`
  const hostile = `<style>p{}</style><script>alert(1)</script><p onclick="alert(2)" style="color:red" class="x">Safe <a href="javascript:alert(3)">link</a> <a href="https://a.example">good</a></p><iframe src="https://x.example"></iframe><svg onload=alert(4)><text>svg</text></svg><img src=x:y onerror=alert(5)><form><input value=1>field</form>`
  const write = async (html: string) => {
    await visitor.key('Control+a')
    await paste(visitor, html)
    await visitor.press('Edit HTML')
    const written = String(await visitor.value('Description'))
    await visitor.press('Edit HTML')
    await visitor.tabTo('Description', { role: 'textbox' })
    expect(sanitize(written, 'html')).toBe(written)
    return written
  }
  expect(await write(word)).toBe('<p><strong>Word</strong></p><ul><li>First</li><li>Second</li></ul>')
  expect(await write(docs)).toBe(
    '<p dir="ltr">Docs <strong>bold</strong><em>slanted</em></p><ol><li dir="ltr"><p dir="ltr">Numbered</p></li></ol>',
  )
  const clean = await write(hostile)
  expect(clean).toContain('Safe link <a href="https://a.example" rel="noopener noreferrer nofollow">good</a>')
  expect(clean).toContain('field')
  expect(clean).not.toMatch(/script|style|onclick|alert|class|svg|img|iframe/)
})

test('a pasted picture file is ignored, because the button uploads pictures', async ({ open, shop, data }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products/${data.arabic}` })
  await visitor.tabTo('Description', { role: 'textbox' })
  const before = await htmlOf(visitor)
  const isPrevented = await visitor.page.evaluate(`(() => {
    const clipboardData = new DataTransfer()
    clipboardData.items.add(new File(['x'], 'x.png', { type: 'image/png' }))
    const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
    return !document.querySelector('${text}').dispatchEvent(event)
  })()`)
  expect([isPrevented, await htmlOf(visitor)]).toEqual([true, before])
})

test('stored HTML keeps its bytes until its text changes, also after a look at the HTML and an undo', async ({ open, shop, data }) => {
  const stored = ok(await shop.get(`/product-v2/${data.kept}`)).body.descriptionHtml
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products/${data.kept}` })
  await visitor.tabTo('Description', { role: 'textbox' })
  await visitor.type('More')
  await visitor.until(`document.querySelector('${text}').innerText.includes('More')`, 'typed')
  await visitor.key('Control+z')
  await visitor.press('Edit HTML')
  expect(await visitor.value('Description')).toBe(stored)
  await visitor.press('Edit HTML')
  await visitor.fill('Title', 'Kept on')
  await visitor.press('Save')
  await visitor.heading('Kept on')
  expect(ok(await shop.get(`/product-v2/${data.kept}`)).body.descriptionHtml).toBe(stored)
})

test('HTML that the editor would change stays HTML, and the editor says what it would remove', async ({ open, shop, data }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products/${data.plain}` })
  await visitor.there('Description', { role: 'textbox' })
  await visitor.press('Edit HTML')
  const typed = '<p style="color:red">Red</p><video src="/x"></video>'
  await visitor.fill('Description', typed)
  await visitor.press('Edit HTML')
  await visitor.text('The editor would remove parts of this text: style, video, src')
  await visitor.press('Cancel', { within: 'Leave the HTML view?' })
  expect(await visitor.value('Description')).toBe(typed)
  await visitor.press('Edit HTML')
  await visitor.press('Open in the editor')
  await visitor.until(`document.querySelector('${text}')?.innerText.trim() === 'Red'`, 'the editor')
})

test('a picture is uploaded into the text with its alt text', async ({ open, shop, data }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products/${data.plain}` })
  await visitor.tabTo('Description', { role: 'textbox' })
  await visitor.press('Image in the text')
  const file = join(temporaryDir(), 'dot.png')
  writeFileSync(file, dot)
  await visitor.upload(/^Upload an image/, [file])
  await visitor.fill('Alt text', 'A "dot" <b>', { within: 'Image in the text' })
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Apply')
  await visitor.until(`document.querySelector('${text} img[data-src]')?.naturalWidth > 0`, 'the picture')
  await visitor.press('Save')
  await visitor.notice('Saved')
  const { descriptionHtml } = ok(await shop.get(`/product-v2/${data.plain}`)).body
  expect(descriptionHtml).toMatch(/<img src="[^"]*\/media\/[0-9a-f]{32}" alt="A &quot;dot&quot; &lt;b&gt;" \/>/)
})

test('right-to-left text and the Arabic toolbar work on a phone', async ({ open, shop, data }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products/${data.arabic}`, width: 'phone', language: 'ar' })
  await visitor.tabTo('الوصف', { role: 'textbox' })
  expect(await visitor.page.evaluate(`getComputedStyle(document.querySelector('${text}')).direction`)).toBe('rtl')
  await visitor.tabTo('عريض', { back: true })
  await visitor.key('ArrowLeft')
  await visitor.keyboardAt('مائل')
  await visitor.key('Control+End')
  expect(await visitor.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  expect(await visitor.axe()).toEqual([])
  expect(await htmlOf(visitor)).toContain('مرحبا')
})
