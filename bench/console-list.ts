/** Measures the list of products in Chromium in a very large shop: its last page against its first. */
import { join } from 'node:path'
import { chromium } from '../test/support/chromium.ts'
import { type ConsoleVisitor, consoleVisitor } from '../test/support/console-visitor.ts'
import { closeBrowser } from '../test/support/visit.ts'
import { figure, median, print, quick, reportSingle, rows, spreadOf, start, work } from './runs.ts'
import { seed } from './seed.ts'

/** `--products=N` for another number. */
const named = Bun.argv.find((argument) => argument.startsWith('--products='))?.slice('--products='.length)
const products = Number(named ?? (quick ? 100_000 : 1_000_000))
const turns = quick ? 5 : 20

/** Runs in the page from the start: when the rows are there. */
const watchesRows = `(() => {
  const look = () => {
    if (document.querySelector('main tbody tr a') && !document.querySelector('.splash, .skeleton, [aria-busy="true"]')) globalThis.rowsMs ??= performance.now()
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
})()`

/** Runs in the page: follows a link and returns the time until other rows are there. */
const openPage = (to: string) => `new Promise((done) => {
  const rows = () => [...document.querySelectorAll('main tbody tr a')].map(({ pathname }) => pathname).join()
  const before = rows()
  const link = Object.assign(document.createElement('a'), { href: ${JSON.stringify(to)} })
  document.querySelector('main').append(link)
  const startedAt = performance.now()
  link.click()
  link.remove()
  const look = () => {
    const now = rows()
    if (now !== '' && now !== before && !document.querySelector('.skeleton, [aria-busy="true"]')) done(performance.now() - startedAt)
    else requestAnimationFrame(look)
  }
  look()
})`

/** Measures the list, unless the machine lacks Chromium. */
export async function measureList(): Promise<void> {
  if (!chromium) {
    print('skipped: the list of products in the console, because there is no chromium on this machine')
    return
  }
  print(`the list of ${figure(products)} products (seeding takes a while)`)
  const shop = await seed(join(work, 'console-list'), products)
  const souk = await start('souk.ts', shop.dataDir)
  try {
    const visitor = await consoleVisitor(souk.url)
    await visitor.go(`s/${shop.shopName}/products`)
    // There is no operator yet.
    await visitor.press('Back to login')
    await visitor.signIn(shop)
    await visitor.page.command('Page.addScriptToEvaluateOnNewDocument', { source: watchesRows })
    await pages(visitor, souk.url, `/console/s/${shop.shopName}/products`)
  } finally {
    await closeBrowser()
    await souk.stop()
  }
}

async function pages(visitor: ConsoleVisitor, url: string, path: string): Promise<void> {
  const { page } = visitor
  await visitor.settled()
  const last = Number(await page.evaluate(`new URL(document.querySelector('.pager a:last-of-type').href).searchParams.get('page')`))
  const places = [1, Math.ceil(last / 2), last]
  const opened: number[][] = [[], [], []]
  const shown: number[][] = [[], [], []]
  const asked = new Set<string>()
  for (let turn = 0; turn < turns; turn++) {
    print(`the list of products: ${turn + 1} of ${turns}`)
    for (const [at, number] of places.entries()) {
      const address = `${path}?page=${number}`
      await page.open('about:blank')
      await page.open(url + address)
      opened[at]?.push(Number(await visitor.until(`location.pathname === '${path}' && globalThis.rowsMs`, address)))
      await visitor.settled()
    }
    page.events.length = 0
    for (const [at, number] of places.entries()) {
      // Each round requests another page, so no cache answers.
      const near = number + (at === 2 ? -turn : turn) - (at === 2 ? 1 : -1)
      shown[at]?.push(Number(await page.evaluate(openPage(`${path}?page=${near}`))))
      await visitor.settled()
    }
    for (const one of visitor.requests()) asked.add(one)
  }
  for (const [what, times] of [
    ['opened by its address', opened],
    ['turned to by a link', shown],
  ] as const) {
    const [first, middle, end] = times.map((some) => median(some)) as [number, number, number]
    rows.push({
      what: `products of ${figure(products)}, ${what}: page ${figure(last)}; floor: page 1`,
      souk: `${figure(end)} ms (the middle ${figure(middle)} ms)`,
      floor: `${figure(first)} ms`,
      ratio: (end / first).toFixed(2),
      spread: spreadOf((times[2] ?? []).map((one, at) => one / (times[0]?.[at] ?? 1))),
      target: '≤ 1.2',
    })
  }
  reportSingle('  asked for by a turn', [...new Set([...asked].map((one) => one.replace(/\?\S*/, '')))].join('; '), 'the API alone')
  for (const complaint of visitor.complaints()) reportSingle('  the browser complains', complaint, 'never')
}
