/** Invoices and credit notes on paper: Chromium prints them to PDF. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { orderLines } from '../../../../db/schema/selling.ts'
import { testApp } from '../../../support/app.ts'
import { type Browser, chromium, startBrowser } from '../../../support/chromium.ts'
import { pdfPages } from '../../../support/pdf-text.ts'
import { address, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** A directory for PDFs and screenshots of the printed pages, for a visual check. */
const picturesDirectory = Bun.env['INVOICE_PICTURES']

/** Prints HTML on A4, and returns the text of each sheet. */
async function printPages(browser: Browser, html: string, name: string): Promise<string[]> {
  await using page = await browser.openPage()
  const { frameTree } = (await page.command('Page.getFrameTree')) as { frameTree: { frame: { id: string } } }
  await page.command('Page.setDocumentContent', { frameId: frameTree.frame.id, html })
  const { data } = (await page.command('Page.printToPDF', { paperWidth: 8.27, paperHeight: 11.69 })) as { data: string }
  if (picturesDirectory !== undefined) {
    await page.command('Emulation.setEmulatedMedia', { media: 'print' })
    await page.command('Emulation.setDeviceMetricsOverride', { width: 720, height: 1_000, deviceScaleFactor: 1, mobile: false })
    const picture = (await page.command('Page.captureScreenshot', { captureBeyondViewport: false })) as { data: string }
    await Bun.write(join(picturesDirectory, `${name}.png`), Buffer.from(picture.data, 'base64'))
    await Bun.write(join(picturesDirectory, `${name}.pdf`), Buffer.from(data, 'base64'))
  }
  return pdfPages(Buffer.from(data, 'base64'))
}

test('prints an invoice and its credit note on a sheet each, and a thousand lines with a header on each sheet', async () => {
  if (!chromium) throw new Error('Chromium is missing')
  await using app = await testApp()
  await using browser = await startBrowser(chromium)
  const shop = await sellingIn(app, { price: 1_990, onHand: 100 })
  const call = (method: string, path: string, body: object) => app.call(method, path, { token: shop.token, body })
  const seller = { legalName: 'Haddad Tea GmbH', taxNumber: 'DE123456789', invoiceNote: 'IBAN DE02 1203 0000\nThank you' }
  const place = { line1: '5 Market Square', city: 'Berlin', postalCode: '10115', countryCode: 'DE' }
  ok(await call('PATCH', '/shops/v2', { title: 'Haddad Tea', ...seller, address: place }))
  ok(await call('PUT', '/shops/v2/tax-rates', { data: [{ country: 'US', rateBps: 887.5, inclusive: true }] }))
  const buy = () =>
    shop.placeOrder({ quantity: 3, shippingAddress: address, billingAddress: { ...address, name: 'Payer', company: 'Haddad Ltd' } })
  const { id, lines } = await buy()
  const { id: refundId } = ok(await shop.refund(id, { lines: [{ lineId: lines[0].id, quantity: 1 }] })).body
  const [invoice, ...otherSheets] = await printPages(browser, ok(await shop.get(`/v2/orders/${id}/invoice`)).text, 'invoice')
  expect(otherSheets).toEqual([])
  for (const shown of ['Invoice1', 'HaddadTeaGmbH', 'Taxnumber:DE123456789', '8.875%(includedinprices)', '$59.70', 'Creditnote1'])
    expect(invoice).toContain(shown)
  const [note, ...otherNoteSheets] = await printPages(
    browser,
    ok(await shop.get(`/v2/orders/${id}/credit-notes/${refundId}`)).text,
    'credit-note',
  )
  expect(otherNoteSheets).toEqual([])
  for (const shown of ['Creditnote1', 'Forinvoice1of', '$19.90', 'HaddadLtd']) expect(note).toContain(shown)

  const long = await buy()
  const [line] = await app.deps.orderStore.lines(long.id)
  if (!line) throw new Error('the order has no line')
  const copies = Array.from({ length: 999 }, (_, n) => ({
    ...line,
    id: `line_copy_${n}`,
    position: line.position + n + 1,
    title: `Copy ${n}.`,
  }))
  for (let from = 0; from < copies.length; from += 100)
    await app.deps.db.write(async (tx) => void (await tx.insert(orderLines).values(copies.slice(from, from + 100))))
  const sheets = await printPages(browser, ok(await shop.get(`/v2/orders/${long.id}/invoice`)).text, 'long')
  expect(sheets.length).toBeGreaterThan(20)
  // The last sheets have the totals; all others show the header of the lines again.
  const withLines = sheets.filter((sheet) => sheet.includes('Copy'))
  expect(withLines.length).toBeGreaterThan(20)
  for (const sheet of withLines) expect(sheet).toContain('ItemQuantityPriceTaxrateTotal')
  for (const n of [0, 500, 998]) expect(sheets.filter((sheet) => sheet.includes(`Copy${n}.`)).length).toBe(1)

  ok(await call('PUT', '/shops/v2/mail', { language: 'ar' }))
  const arabic = await buy()
  ok(await shop.refund(arabic.id, { amount: shop.money(500) }))
  const { text } = ok(await shop.get(`/v2/orders/documents?type=invoice&ids=${arabic.id},${id}`))
  expect([...text.matchAll(/<section class="sheet" lang="(\w+)" dir="(\w+)">/g)].map(([, language, dir]) => [language, dir])).toEqual([
    ['ar', 'rtl'],
    ['en', 'ltr'],
  ])
  expect((await printPages(browser, text, 'arabic')).length).toBe(2)
})
