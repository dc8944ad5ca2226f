/** Where the keyboard is when what had it is gone: never at the beginning of the page. */

/** What had the keyboard last, and what it stood in, from within. */
let trail: readonly Element[] = []

/** What the keyboard goes to: the nearest part of the page that is left of where it was, or the page's heading. */
function nearest(): HTMLElement | null {
  const left = trail.find((one) => one.isConnected)
  const part = left?.closest<HTMLElement>('section, form, dialog')
  return part?.closest('main, dialog') ? part : document.querySelector<HTMLElement>('main h1')
}

/** After that long nothing else takes the keyboard, such as a window that gives it back, or a screen that has its own place for it. */
const othersWithinMs = 50

/** Watches for as long as the page lasts. */
export function watchFocus(): void {
  addEventListener('focusin', ({ target }) => {
    trail = target instanceof Element ? [target, ...ancestorsOf(target)] : []
  })
  // Whoever presses an empty place has left what had the keyboard.
  addEventListener('pointerup', () => {
    if (document.activeElement === document.body) trail = []
  })
  const isLost = () => document.activeElement === document.body && trail.length > 0 && !trail[0]?.isConnected
  new MutationObserver(() => {
    if (!isLost()) return
    setTimeout(() => {
      if (!isLost()) return
      const to = nearest()
      if (!to) return
      if (!to.hasAttribute('tabindex')) to.tabIndex = -1
      // Where there is nothing yet, or a window lies over it, the next change of the page tries again.
      to.focus({ preventScroll: true })
    }, othersWithinMs)
  }).observe(document.body, { childList: true, subtree: true })
}

function ancestorsOf(of: Element): Element[] {
  const found: Element[] = []
  for (let one = of.parentElement; one; one = one.parentElement) found.push(one)
  return found
}
