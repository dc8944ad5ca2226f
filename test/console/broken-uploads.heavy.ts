/** Tests interrupted uploads in a browser: they are reported, lose nothing and can be retried. */
import { expect, setDefaultTimeout } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import type { TestApp } from '../support/app.ts'
import { consoleTests } from '../support/console-tests.ts'
import { type ConsoleVisitor, consoleVisitor } from '../support/console-visitor.ts'
import { temporaryDir } from '../support/database.ts'
import { approveBusiness } from '../support/kyb.ts'
import { pdf } from '../support/lending-documents.ts'
import { ok } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests({
  settings: { LENDING_PLATFORM_ENABLED: 'true' },
  fill: async ({ app }) => {
    const borrower = await app.merchant()
    await approveBusiness(app, borrower, await app.superAdmin())
    return { borrower }
  },
})

const label = /^File: Proof of address/
const megabytes = 8

/** Creates a large document. */
async function createLargeFile(): Promise<string> {
  const file = join(temporaryDir(), 'large.pdf')
  await Bun.write(file, pdf(megabytes * 1_048_576))
  return file
}

/** Limits uploads to `bytes` per second, or removes the limit. */
const throttle = (visitor: ConsoleVisitor, bytes = -1) =>
  visitor.page.command('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: bytes })

/** Shortens the timeout of a stalled upload from a minute to two seconds. */
async function shortenStallTimeout({ page, reload }: ConsoleVisitor): Promise<void> {
  const source = `{ const later = setTimeout; globalThis.setTimeout = (what, ms, ...given) => later(what, ms === 60_000 ? 2_000 : ms, ...given) }`
  await page.command('Page.addScriptToEvaluateOnNewDocument', { source })
  await reload()
}

const isPartly = `(() => { const part = document.querySelector('.documents progress')?.value ?? 0; return part > 0 && part < 1 })()`

/** Lists the document files on the server. */
function storedFiles(app: TestApp): string[] {
  const directory = join(app.database.dataDir, 'documents')
  return existsSync(directory) ? readdirSync(directory) : []
}

async function application(app: TestApp, token: string): Promise<{ id: string; itemsThere: () => Promise<unknown> }> {
  const { id } = ok(await app.call('POST', '/lending-application', { token, body: {} }), 201).body
  return {
    id,
    itemsThere: async () => ok(await app.call('GET', `/lending-application/${id}`, { token })).body.documentationCompleted?.items ?? [],
  }
}

test('a stalled upload fails after a minute and can be retried', async ({ open, app, data }) => {
  const { borrower } = data
  const { id, itemsThere } = await application(app, borrower.token)
  const before = storedFiles(app).length
  const visitor = await open({ as: borrower, at: `s/${borrower.shop.name}/lending/${id}` })
  await shortenStallTimeout(visitor)
  await visitor.heading('Application')
  await visitor.text('0 of ')
  await throttle(visitor, 1)
  await visitor.upload(label, [await createLargeFile()], { role: 'button' })
  await visitor.until(isPartly, 'a part of it')
  await visitor.press('Home', { role: 'link' })
  await visitor.there('Cancel upload?', { role: 'dialog' })
  await visitor.press('Stay', { role: 'button' })
  await visitor.text('Something went wrong')
  expect(await visitor.axe()).toEqual([])
  expect(await itemsThere()).toEqual([])
  // The upload takes longer than the stall timeout, which does not apply while bytes arrive.
  await throttle(visitor, 1_500_000)
  await visitor.press('Retry', { role: 'button' })
  await visitor.there('Proof of address uploaded', {})
  expect(await itemsThere()).toMatchObject([{ status: 'UPLOADED' }])
  expect(storedFiles(app)).toHaveLength(before + 1)
})

test('a running upload continues while another lender is selected', async ({ open, app, data }) => {
  const { borrower } = data
  const { id, itemsThere } = await application(app, borrower.token)
  const visitor = await open({ as: borrower, at: `s/${borrower.shop.name}/lending/${id}` })
  await visitor.heading('Application')
  await visitor.text('0 of ')
  await throttle(visitor, 1_000_000)
  await visitor.upload(label, [await createLargeFile()], { role: 'button' })
  await visitor.until(isPartly, 'a part of it')
  await visitor.fill('Lender', 'Harbor Inventory')
  await visitor.press('Save', { role: 'button' })
  await visitor.text('Stock count report')
  expect(await visitor.page.evaluate(isPartly)).toBe(true)
  await throttle(visitor)
  await visitor.there('Proof of address uploaded', {})
  expect(await itemsThere()).toMatchObject([{ status: 'UPLOADED' }])
})

test('an interrupted upload is reported, stores nothing and can be retried', async ({ app, url, data }) => {
  const { borrower } = data
  const { id, itemsThere } = await application(app, borrower.token)
  const before = storedFiles(app).length
  await using between = await startBreakingProxy(new URL(url).port)
  await using visitor = await consoleVisitor(between.url, { width: 'phone' })
  await visitor.go(`s/${borrower.shop.name}/lending/${id}`)
  await visitor.signIn(borrower)
  await visitor.heading('Application')
  await visitor.text('0 of ')
  // The browser itself retries the upload, once on each of its connections.
  await throttle(visitor, 4_000_000)
  await visitor.upload(label, [await createLargeFile()], { role: 'button' })
  await visitor.until(isPartly, 'a part of it')
  visitor.expects(/PUT \/lending-application\/\S+ net::/)
  await visitor.text('Something went wrong')
  expect(between.passed()).toBeGreaterThan(1_000_000)
  // The server removes the partial upload when it sees that the connection ended.
  for (let wait = 0; wait < 300 && storedFiles(app).length > before; wait++) await Bun.sleep(100)
  expect([await itemsThere(), storedFiles(app).length]).toEqual([[], before])
  between.mend()
  await throttle(visitor)
  await visitor.press('Retry', { role: 'button' })
  await visitor.there('Proof of address uploaded', {})
  expect(await itemsThere()).toMatchObject([{ status: 'UPLOADED' }])
  expect(storedFiles(app)).toHaveLength(before + 1)
  expect(visitor.complaints()).toEqual([])
})

/** Starts a proxy that breaks connections after four megabytes, until `mend` is called. */
async function startBreakingProxy(port: string) {
  let [isBroken, most] = [true, 0]
  const server = createServer((browser) => {
    const souk = connect(Number(port), '127.0.0.1')
    let passed = 0
    browser.on('data', (bytes) => {
      passed += bytes.length
      most = Math.max(most, passed)
      if (isBroken && passed > 4_000_000) {
        browser.destroy()
        souk.destroy()
      } else souk.write(bytes)
    })
    souk.on('data', (bytes) => browser.write(bytes))
    for (const [one, other] of [
      [browser, souk],
      [souk, browser],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed: () => most,
    mend() {
      isBroken = false
    },
    [Symbol.asyncDispose]: async () => void server.close(),
  }
}
