/** Pages of the browser that a test file shares. */
import { type Browser, type BrowserEvent, blockCookies, chromium, desktopChromium, type Page, startBrowser } from './chromium.ts'

export const widths = { phone: 360, desk: 1280 } as const
export type Width = keyof typeof widths

const axe = await Bun.file(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url)).bytes()
/** In the page: unpacks axe. Sending it compressed takes a third of the time. */
const unpacked = `new Response(new Blob([Uint8Array.fromBase64('${Bun.gzipSync(axe).toBase64()}')]).stream().pipeThrough(new DecompressionStream('gzip')))
  .text().then((text) => { globalThis.axeText = text })`

let browser: Promise<Browser> | undefined
let browserWithoutCookies: Promise<Browser> | undefined
/** Empty pages of used browser contexts. Reusing one saves the start of a process. */
let idle: Page[] = []
/** Closes the file's browsers. */
export async function closeBrowser(): Promise<void> {
  for (const one of [browser, browserWithoutCookies]) await (await one)?.[Symbol.asyncDispose]()
  browser = undefined
  browserWithoutCookies = undefined
  idle = []
}

const betweenLooksMs = 10
/** Enough for the slowest machine. */
const looksMax = 2_000

/** Repeats a look until it finds something; undefined after `most` attempts. */
export async function pollUntilFound<Found>(
  look: () => Promise<Found | undefined | null | false>,
  most = looksMax,
): Promise<Found | undefined> {
  for (let looks = 0; looks < most; looks++) {
    const found = await look()
    if (found) return found
    await Bun.sleep(betweenLooksMs)
  }
  return undefined
}

/** Opens a page, or another tab beside one. */
async function pageOf(beside: Page | undefined, cookies: boolean): Promise<Page> {
  if (!cookies) {
    browserWithoutCookies ??= startBrowser(desktopChromium ?? '', blockCookies)
    return (await browserWithoutCookies).openPage(beside)
  }
  browser ??= startBrowser(chromium ?? '')
  const running = await browser
  if (beside) return running.openPage(beside)
  const first = idle.pop() ?? (await running.openPage())
  const page = await running.openPage(first)
  return {
    ...page,
    async [Symbol.asyncDispose]() {
      await page[Symbol.asyncDispose]()
      await clearStorage(first, page.events)
      idle.push(first)
    },
  }
}

/** Clears the storage of a browser context. */
async function clearStorage(first: Page, events: readonly BrowserEvent[]): Promise<void> {
  const origins = new Set(requestedUrls(events).map((url) => new URL(url).origin))
  for (const origin of origins) await first.command('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
  await first.command('Network.clearBrowserCookies')
  await first.command('Network.clearBrowserCache')
}

/** Errors of a page that is navigating. */
const navigationError =
  /navigated or closed|Not attached to an active page|context was destroyed|Promise was collected|axe(Text)? is not defined/

/** Ignores errors of navigation. */
function ignoreNavigation(error: Error): undefined {
  if (!navigationError.test(error.message)) throw error
}

/**
 * Finds content that does not fit: wider than the screen, cut in a phone's table, or a select too narrow for its
 * option.
 */
const cutOf = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const root = document.documentElement
    const tell = (one) => one.outerHTML.slice(0, 120)
    const isPast = (one, { left, right }) => {
      const box = one.getBoundingClientRect()
      return box.width > 1 && (box.left < left - 1 || box.right > right + 1)
    }
    const cut = []
    if (root.scrollWidth > root.clientWidth) {
      const screen = root.dir === 'rtl' ? { left: 0, right: Infinity } : { left: -Infinity, right: root.clientWidth }
      cut.push(...[...document.querySelectorAll('body *')].filter((one) => isPast(one, screen)).slice(0, 3).map((one) => 'too wide: ' + tell(one)))
    }
    for (const box of innerWidth > 600 ? [] : document.querySelectorAll('.table-box')) {
      if (box.scrollWidth > box.clientWidth + 1) cut.push('scrolls sideways: ' + box.getAttribute('aria-label'))
      const past = [...box.querySelectorAll('tbody *')].find((one) => !one.closest('.unseen') && isPast(one, box.getBoundingClientRect()))
      if (past) cut.push('outside of its table: ' + tell(past))
      for (const code of box.querySelectorAll('tbody code')) if (code.scrollWidth > code.clientWidth + 1) cut.push('cut: ' + tell(code))
    }
    const pen = document.createElement('canvas').getContext('2d')
    const arrowWidth = 18
    for (const one of document.querySelectorAll('select')) {
      const { font, paddingLeft, paddingRight } = getComputedStyle(one)
      pen.font = font
      const chosen = one.selectedOptions[0]?.text ?? ''
      const room = one.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - arrowWidth
      if (one.clientWidth > 0 && pen.measureText(chosen).width > room) cut.push('no room for what is chosen: ' + chosen)
    }
    return cut
  })()`) as Promise<string[]>

/** Returns axe's findings and cut content. Preloads no style sheets, which only an unused rule needs. */
async function breachesOf(page: Page): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) !== 'object') {
    await page.evaluate(unpacked)
    await page.evaluate('(0, eval)(axeText), delete globalThis.axeText')
  }
  const found =
    (await page.evaluate(`axe.run('html', { resultTypes: ['violations'], preload: { assets: ['media'] } }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes[0].html.slice(0, 200) + ' ' + nodes[0].failureSummary))`)) as string[]
  return [...found, ...(await cutOf(page))]
}

/**
 * @param beside page whose cookies and cache it shares
 * @param cookies false blocks cookies
 */
export async function openVisit(width: Width, beside?: Page, cookies = true) {
  const page = await pageOf(beside, cookies)
  const resize = (to: Width) =>
    page.command('Emulation.setDeviceMetricsOverride', { width: widths[to], height: 800, deviceScaleFactor: 1, mobile: to === 'phone' })
  await resize(width)

  /** Waits until an expression is true, also across navigations. */
  async function until(expression: string, what: string): Promise<unknown> {
    // The page can be replaced before it answers.
    const found = await pollUntilFound(() => page.evaluate(expression).catch((error: unknown) => void error))
    if (!found)
      throw new Error(
        `not there: ${what}; there is, at ${await page.evaluate('location.href')}: ${await page.evaluate('document.body.innerText')}`,
      )
    return found
  }

  return {
    page,
    until,
    resize,
    /** Clicks at a point of the viewport. */
    async click(x: number, y: number): Promise<void> {
      const mouse = { x, y, button: 'left', clickCount: 1 }
      await page.command('Input.dispatchMouseEvent', { type: 'mousePressed', ...mouse })
      await page.command('Input.dispatchMouseEvent', { type: 'mouseReleased', ...mouse }).catch(ignoreNavigation)
    },
    /** Reloads after a pending navigation. */
    reload: () => pollUntilFound(() => page.command('Page.reload').catch(ignoreNavigation)),
    /** Goes through the history, after the call returned. */
    traverse: (pages: number) => page.evaluate(`void setTimeout(() => history.go(${pages}))`),
    /** Returns cut content. */
    cut: () => cutOf(page),
    /** Returns axe's findings and cut content of a stable page. */
    async breaches(): Promise<string[]> {
      const found = await pollUntilFound(() => breachesOf(page).catch(ignoreNavigation))
      if (!found) throw new Error(`no page stays for long enough, at ${await page.evaluate('location.href')}`)
      return found
    },
  }
}

export const isBrowserError = ({ method, params }: BrowserEvent): boolean =>
  method === 'Runtime.exceptionThrown' ||
  method === 'Page.javascriptDialogOpening' ||
  (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(String(params['type']))) ||
  (method === 'Log.entryAdded' && ['error', 'warning'].includes((params['entry'] as { level: string }).level))

/** Returns the URLs of network requests. */
export const requestedUrls = (events: readonly BrowserEvent[]): string[] =>
  events
    .filter(({ method }) => method === 'Network.requestWillBeSent')
    .map(({ params }) => (params['request'] as { url: string }).url)
    .filter((url) => !/^(data|about|blob):/.test(url))
