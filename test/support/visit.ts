/** A page of the one browser of a file of tests, at a width, and what every visitor of ours does there: wait, look, press, complain. */
import { type Browser, type BrowserEvent, chromium, type Page, startBrowser } from './chromium.ts'

export const widths = { phone: 360, desk: 1280 } as const
export type Width = keyof typeof widths

const axe = await Bun.file(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url)).text()

let browser: Promise<Browser> | undefined
/** Ends the browser of this file. */
export async function closeBrowser(): Promise<void> {
  await (await browser)?.[Symbol.asyncDispose]()
  browser = undefined
}

/** Between two looks at the browser, which is another process. */
const betweenLooksMs = 10
/** So many looks are enough for the slowest machine; what they were for is said then. */
const looksMax = 2_000

/** Looks again and again, so many times at most, until something is there. */
export async function untilThere<Found>(
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

/** @param beside whose cookies and cache it shares, as another tab of the same browser does */
export async function openVisit(width: Width, beside?: Page) {
  browser ??= startBrowser(chromium ?? '')
  const page = await (await browser).openPage(beside)
  const resize = (to: Width) =>
    page.command('Emulation.setDeviceMetricsOverride', { width: widths[to], height: 800, deviceScaleFactor: 1, mobile: to === 'phone' })
  await resize(width)

  /** Waits until an expression is true in the page, whichever page that is by then. */
  async function until(expression: string, what: string): Promise<unknown> {
    // The page that was asked may be gone before it answers.
    const found = await untilThere(() => page.evaluate(expression).catch((error: unknown) => void error))
    if (!found) throw new Error(`not there: ${what}; there is: ${await page.evaluate('document.body.innerText')}`)
    return found
  }

  return {
    page,
    until,
    resize,
    /** Presses and lets go at a point of what is seen. */
    async click(x: number, y: number): Promise<void> {
      const mouse = { x, y, button: 'left', clickCount: 1 }
      await page.command('Input.dispatchMouseEvent', { type: 'mousePressed', ...mouse })
      await page.command('Input.dispatchMouseEvent', { type: 'mouseReleased', ...mouse })
    },
    /** What axe finds, and what is wider than the screen. */
    async breaches(): Promise<string[]> {
      if ((await page.evaluate('typeof axe')) !== 'object') await page.evaluate(axe)
      const found = (await page.evaluate(`axe.run('html', { resultTypes: ['violations'] }).then(({ violations }) =>
        violations.map(({ id, nodes }) => id + ': ' + nodes[0].html.slice(0, 200) + ' ' + nodes[0].failureSummary))`)) as string[]
      const wide = (await page.evaluate(`document.documentElement.scrollWidth > document.documentElement.clientWidth
        ? [...document.querySelectorAll('body *')].filter((one) => document.documentElement.dir === 'rtl' ? one.getBoundingClientRect().left < -1 : one.getBoundingClientRect().right > innerWidth + 1).slice(0, 3).map((one) => 'too wide: ' + one.outerHTML.slice(0, 120))
        : []`)) as string[]
      return [...found, ...wide]
    },
  }
}

export const isComplaint = ({ method, params }: BrowserEvent): boolean =>
  method === 'Runtime.exceptionThrown' ||
  (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(String(params['type']))) ||
  (method === 'Log.entryAdded' && ['error', 'warning'].includes((params['entry'] as { level: string }).level))

/** What was asked for over the network. */
export const requestedUrls = (events: readonly BrowserEvent[]): string[] =>
  events
    .filter(({ method }) => method === 'Network.requestWillBeSent')
    .map(({ params }) => (params['request'] as { url: string }).url)
    .filter((url) => !/^(data|about|blob):/.test(url))
