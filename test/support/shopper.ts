/** Somebody at a browser: reads what is on the page, types and presses where a person would, and minds what the browser complains about. */
import { closeBrowser, isComplaint, openVisit, requestedUrls, type Width, widths } from './visit.ts'

export { closeBrowser, type Width, widths }

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
  const { page, until, ...visit } = await openVisit(width)

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
    breaches: visit.breaches,
    /** What the browser complained about: a policy that was broken, a script that failed, something that was not found. */
    complaints: () => page.events.filter(isComplaint).map(({ params }) => JSON.stringify(params)),
    /** Origins of whatever was asked for. */
    origins: () => new Set(requestedUrls(page.events).map((url) => new URL(url).origin)),
    requested: () => requestedUrls(page.events),
    back: () => visit.traverse(-1),
    [Symbol.asyncDispose]: () => page[Symbol.asyncDispose](),
  }
}
