/** A shopper in a browser: reads the page, types and presses like a person, and collects browser errors. */
import { closeBrowser, isBrowserError, openVisit, requestedUrls, type Width, widths } from './visit.ts'

export { closeBrowser, type Width, widths }

const quoted = (text: string) => JSON.stringify(text)
/** Script: the accessible name of an element. */
const named = `(element) => (element.getAttribute('aria-label') ?? element.textContent).replace(/\\s+/g, ' ').trim()`
/** Script: finds a button or link by its name, within a region if one is given. */
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
  const { page, until, ...visit } = await openVisit(width)

  async function press(name: string, within = ''): Promise<void> {
    const element = pressable(name, within)
    // Finds and measures in one step, because a redraw would replace the element.
    const measured = `(() => {
      const element = ${element}
      // Without its styles, the page has its links elsewhere.
      if (!element || document.readyState !== 'complete') return
      element.scrollIntoView({ block: 'center', behavior: 'instant' })
      // A link of two lines is pressed on the first.
      const [{ x, y, width, height }] = element.getClientRects()
      const [middle, centre] = [x + width / 2, y + height / 2]
      const hit = document.elementFromPoint(middle, centre)
      return [middle, centre, element.contains(hit) || (hit && hit.contains(element) && hit.localName === 'label'), hit && hit.outerHTML.slice(0, 200)]
    })()`
    const at = (await until(measured, `something to press that is called ${name}`)) as [number, number, boolean, string]
    if (!at[2]) throw new Error(`${name} is covered by ${at[3]}`)
    await visit.click(at[0], at[1])
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
    /** Replaces the value of a field; selects the option of a list by its label. */
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
    breaches: visit.breaches,
    /** Returns browser errors: violated policies, failed scripts and missing files. */
    complaints: () => page.events.filter(isBrowserError).map(({ params }) => JSON.stringify(params)),
    /** Returns the origins of all requests. */
    origins: () => new Set(requestedUrls(page.events).map((url) => new URL(url).origin)),
    requested: () => requestedUrls(page.events),
    back: () => visit.traverse(-1),
    [Symbol.asyncDispose]: () => page[Symbol.asyncDispose](),
  }
}
