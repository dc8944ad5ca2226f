/** Measures the list of products in Chromium in a very large shop: its last page against its first. */
import { join } from 'node:path'
import { chromium } from '../test/support/chromium.ts'
import { type ConsoleVisitor, consoleVisitor } from '../test/support/console-visitor.ts'
import { closeBrowser } from '../test/support/visit.ts'
import { figure, median, print, quick, reportRatios, reportSingle, start, work } from './runs.ts'
import { seed } from './seed.ts'

/** `--products=N` for another number. */
const productsArgument = Bun.argv.find((argument) => argument.startsWith('--products='))?.slice('--products='.length)
const products = Number(productsArgument ?? (quick ? 100_000 : 1_000_000))
const repetitions = quick ? 5 : 20

/** Runs in the page from its start. Stores when the rows are shown. */
const watchRows = `(() => {
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
    await visitor.page.command('Page.addScriptToEvaluateOnNewDocument', { source: watchRows })
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
  const pageNumbers = [1, Math.ceil(last / 2), last]
  const openTimes: number[][] = [[], [], []]
  const turnTimes: number[][] = [[], [], []]
  const requestedUrls = new Set<string>()
  for (let nth = 0; nth < repetitions; nth++) {
    print(`the list of products: ${nth + 1} of ${repetitions}`)
    for (const [at, number] of pageNumbers.entries()) {
      const address = `${path}?page=${number}`
      await page.open('about:blank')
      await page.open(url + address)
      openTimes[at]?.push(Number(await visitor.until(`location.pathname === '${path}' && globalThis.rowsMs`, address)))
      await visitor.settled()
    }
    page.events.length = 0
    for (const [at, number] of pageNumbers.entries()) {
      // Each round requests another page, so no cache answers.
      const near = number + (at === 2 ? -nth : nth) - (at === 2 ? 1 : -1)
      turnTimes[at]?.push(Number(await page.evaluate(openPage(`${path}?page=${near}`))))
      await visitor.settled()
    }
    for (const one of visitor.requests()) requestedUrls.add(one)
  }
  for (const [what, times] of [
    ['opened by its address', openTimes],
    ['turned to by a link', turnTimes],
  ] as const) {
    const [first, middle, end] = times.map((some) => median(some)) as [number, number, number]
    const row = {
      what: `products of ${figure(products)}, ${what}: page ${figure(last)}; floor: page 1`,
      souk: `${figure(end)} ms (the middle ${figure(middle)} ms)`,
      floor: `${figure(first)} ms`,
      target: '≤ 1.2',
    }
    const ratios = (times[2] ?? []).map((one, at) => one / (times[0]?.[at] ?? 1))
    reportRatios(row, ratios)
  }
  reportSingle(
    '  requested by a page turn',
    [...new Set([...requestedUrls].map((one) => one.replace(/\?\S*/, '')))].join('; '),
    'the API alone',
  )
  for (const complaint of visitor.complaints()) reportSingle('  errors of the browser', complaint, 'never')
}
