/** Where the keyboard is when what had it is gone: never at the beginning of the page. */

/** What had the keyboard last, and what it stood in, from within. */
let focusPath: readonly Element[] = []

/** What the keyboard goes to: the nearest part of the page that is left of where it was, or the page's heading. */
function nearestTarget(): HTMLElement | null {
  const left = focusPath.find((one) => one.isConnected)
  const part = left?.closest<HTMLElement>('section, form, dialog')
  return part?.closest('main, dialog') ? part : document.querySelector<HTMLElement>('main h1')
}

/** After that long nothing else takes the keyboard, such as a window that gives it back, or a screen that has its own place for it. */
const settleMs = 50

/** Watches for as long as the page lasts. */
export function watchFocus(): void {
  addEventListener('focusin', ({ target }) => {
    focusPath = target instanceof Element ? [target, ...ancestorsOf(target)] : []
  })
  // Whoever presses an empty place has left what had the keyboard.
  addEventListener('pointerup', () => {
    if (document.activeElement === document.body) focusPath = []
  })
  const isLost = () => document.activeElement === document.body && focusPath.length > 0 && !focusPath[0]?.isConnected
  new MutationObserver(() => {
    if (!isLost()) return
    setTimeout(() => {
      if (!isLost()) return
      const to = nearestTarget()
      if (!to) return
      if (!to.hasAttribute('tabindex')) to.tabIndex = -1
      // Where there is nothing yet, or a window lies over it, the next change of the page tries again.
      to.focus({ preventScroll: true })
    }, settleMs)
  }).observe(document.body, { childList: true, subtree: true })
}

function ancestorsOf(of: Element): Element[] {
  const found: Element[] = []
  for (let one = of.parentElement; one; one = one.parentElement) found.push(one)
  return found
}
