/** Restores the keyboard focus after the focused element was removed. */

/** The last focused element and its ancestors. */
let focusPath: readonly Element[] = []

/** Returns the new focus target: the nearest remaining section, or the page heading. */
function nearestTarget(): HTMLElement | null {
  const remaining = focusPath.find((element) => element.isConnected)
  const container = remaining?.closest<HTMLElement>('section, form, dialog')
  return container?.closest('main, dialog') ? container : document.querySelector<HTMLElement>('main h1')
}

/** Time for others to set the focus first, such as a closing dialog. */
const settleMs = 50

/** Watches for the lifetime of the page. */
export function watchFocus(): void {
  addEventListener('focusin', ({ target }) => {
    focusPath = target instanceof Element ? [target, ...ancestorsOf(target)] : []
  })
  // A press on an empty area gives up the focus.
  addEventListener('pointerup', () => {
    if (document.activeElement === document.body) focusPath = []
  })
  const isLost = () => document.activeElement === document.body && focusPath.length > 0 && !focusPath[0]?.isConnected
  new MutationObserver(() => {
    if (!isLost()) return
    setTimeout(() => {
      if (!isLost()) return
      const target = nearestTarget()
      if (!target) return
      if (!target.hasAttribute('tabindex')) target.tabIndex = -1
      // If nothing takes the focus yet, the next change of the page retries.
      target.focus({ preventScroll: true })
    }, settleMs)
  }).observe(document.body, { childList: true, subtree: true })
}

function ancestorsOf(element: Element): Element[] {
  const ancestors: Element[] = []
  for (let parent = element.parentElement; parent; parent = parent.parentElement) ancestors.push(parent)
  return ancestors
}
