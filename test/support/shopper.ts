/** Somebody at a browser: reads what is on the page, types and presses where a person would, and minds what the browser complains about. */
import { type Browser, type BrowserEvent, chromium, startBrowser } from './chromium.ts'

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

const quoted = (text: string) => JSON.stringify(text)
/** In the page: the text that is read for an element. */
const named = `(element) => (element.getAttribute('aria-label') ?? element.textContent).replace(/\\s+/g, ' ').trim()`
/** In the page: what may be pressed and is called so, the one in the region if one is named. */
const pressable = (name: string, within: string) => `(() => {
  const named = ${named}
  const parts = ${within === '' ? '[document]' : `[...document.querySelectorAll('main, form, section, aside, li')].filter((part) => part.localName === ${quoted(within)} || part.getAttribute('aria-label') === ${quoted(within)} || (part.querySelector('h2') && named(part.querySelector('h2')) === ${quoted(within)}))`}
  return parts.flatMap((part) => [...part.querySelectorAll('a, button, label.tick')]).find((element) => named(element) === ${quoted(name)})
})()`
const fieldOf = (label: string) => `(() => {
  const named = ${named}
  const found = [...document.querySelectorAll('label')].find((element) => named(element) === ${quoted(label)})
  return found && (found.control ?? document.getElementById(found.htmlFor))
})()`

export type Shopper = Awaited<ReturnType<typeof shopper>>

/** A shopper with an empty browser of their own. @param origin of the storefront */
export async function shopper(origin: string, width: Width = 'desk') {
  browser ??= startBrowser(chromium ?? '')
  const page = await (await browser).openPage()
  await page.command('Emulation.setDeviceMetricsOverride', {
    width: widths[width],
    height: 800,
    deviceScaleFactor: 1,
    mobile: width === 'phone',
  })

  /** Waits until an expression is true in the page, whichever page that is by then. */
  async function until(expression: string, what: string): Promise<unknown> {
    let last: unknown
    for (let look = 0; look < looksMax; look++) {
      // The page that was asked may be gone before it answers.
      last = await page.evaluate(expression).catch((error: unknown) => void error)
      if (last) return last
      await Bun.sleep(betweenLooksMs)
    }
    throw new Error(`not there: ${what}; there is: ${await page.evaluate('document.body.innerText')}`)
  }

  async function press(name: string, within = ''): Promise<void> {
    const element = pressable(name, within)
    // Found and measured at once: what is drawn anew in between would be gone.
    const measured = `(() => {
      const element = ${element}
      if (!element) return
      element.scrollIntoView({ block: 'center', behavior: 'instant' })
      // A link that goes over two lines is pressed on its first.
      const [{ x, y, width, height }] = element.getClientRects()
      const [middle, centre] = [x + width / 2, y + height / 2]
      const hit = document.elementFromPoint(middle, centre)
      return [middle, centre, element.contains(hit) || (hit && hit.contains(element) && hit.localName === 'label'), hit && hit.outerHTML.slice(0, 200)]
    })()`
    const at = (await until(measured, `something to press that is called ${name}`)) as [number, number, boolean, string]
    if (!at[2]) throw new Error(`${name} is covered by ${at[3]}`)
    const mouse = { x: at[0], y: at[1], button: 'left', clickCount: 1 }
    await page.command('Input.dispatchMouseEvent', { type: 'mousePressed', ...mouse })
    await page.command('Input.dispatchMouseEvent', { type: 'mouseReleased', ...mouse })
  }

  return {
    page,
    until,
    press,
    go: (path: string) => page.open(`${origin}/${path}`),
    /** Waits for a page by its heading. */
    heading: (text: string) =>
      until(
        `document.querySelector('main h1') && (${named})(document.querySelector('main h1')) === ${quoted(text)}`,
        `the heading ${text}`,
      ),
    /** Waits for a text, as a person would see it. */
    text: (text: string) => until(`document.body.innerText.replace(/\\s+/g, ' ').includes(${quoted(text)})`, text),
    has: async (text: string) => (await page.evaluate(`document.body.innerText.includes(${quoted(text)})`)) === true,
    /** Types into a field, in place of what is there; of a list, chooses by what it shows. */
    async fill(label: string, value: string): Promise<void> {
      const control = fieldOf(label)
      await until(`!!${control}`, `a field that is called ${label}`)
      const isList = await page.evaluate(`${control}.localName === 'select'`)
      if (isList) {
        const chosen = await page.evaluate(`(() => {
          const list = ${control}
          const option = [...list.options].find(({ label }) => label === ${quoted(value)})
          if (!option) return false
          list.value = option.value
          return list.dispatchEvent(new Event('input', { bubbles: true })) && list.dispatchEvent(new Event('change', { bubbles: true }))
        })()`)
        if (!chosen) throw new Error(`${label} has no ${value}`)
        return
      }
      await page.evaluate(`${control}.focus(), ${control}.select()`)
      await page.command('Input.insertText', { text: value })
    },
    value: (label: string) => page.evaluate(`${fieldOf(label)}.value`),
    /** What axe finds, and what is wider than the screen. */
    async breaches(): Promise<string[]> {
      await page.evaluate(axe)
      const found = (await page.evaluate(`axe.run('html', { resultTypes: ['violations'] }).then(({ violations }) =>
        violations.map(({ id, nodes }) => id + ': ' + nodes[0].html.slice(0, 200) + ' ' + nodes[0].failureSummary))`)) as string[]
      const wide = (await page.evaluate(`document.documentElement.scrollWidth > document.documentElement.clientWidth
        ? [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1).slice(0, 3).map((one) => 'too wide: ' + one.outerHTML.slice(0, 120))
        : []`)) as string[]
      return [...found, ...wide]
    },
    /** What the browser complained about: a policy that was broken, a script that failed, something that was not found. */
    complaints: () => page.events.filter(isComplaint).map(({ params }) => JSON.stringify(params)),
    /** Origins of whatever was asked for. */
    origins: () => new Set(requested(page.events).map((url) => new URL(url).origin)),
    requested: () => requested(page.events),
    [Symbol.asyncDispose]: () => page[Symbol.asyncDispose](),
  }
}

const isComplaint = ({ method, params }: BrowserEvent): boolean =>
  method === 'Runtime.exceptionThrown' ||
  (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(String(params['type']))) ||
  (method === 'Log.entryAdded' && ['error', 'warning'].includes((params['entry'] as { level: string }).level))

const requested = (events: readonly BrowserEvent[]): string[] =>
  events
    .filter(({ method }) => method === 'Network.requestWillBeSent')
    .map(({ params }) => (params['request'] as { url: string }).url)
    .filter((url) => !/^(data|about|blob):/.test(url))
