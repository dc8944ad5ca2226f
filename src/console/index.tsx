import { effect } from '@preact/signals'
import { render } from 'preact'
import { prefetch } from './lib/api/prefetch.ts'
import { language, textsLoaded } from './lib/i18n/catalog.ts'
import { watchEvents } from './lib/live/live-events.ts'
import { watchFocus } from './lib/navigation/focus.ts'
import { setShopFromPath } from './lib/session/current-shop.ts'
import { checkVersion } from './lib/session/program-version.ts'
import { sessionStatus, startSession, watchSession } from './lib/session/session.ts'
import { warnBeforeUnload } from './lib/session/unsaved-changes.ts'
import { screenAt } from './screens.ts'
import { App } from './shell/app.tsx'
import './style.css'

document.documentElement.lang = language
document.documentElement.dir = language === 'ar' ? 'rtl' : 'ltr'

/** How long the page stays blank, so that a loading state of a moment does not flash. */
const blankMaxMs = 150
/** When the first version check runs, after the page has loaded. */
const firstVersionMs = 5_000

/** Checks that a path can be decoded. The router cannot read paths such as `%E0%A4%A`. */
function isReadable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== ''
  } catch {
    return false
  }
}
if (!isReadable(location.pathname)) history.replaceState(null, '', '/console')

// Requests the session while the texts and the first screen load.
void startSession()
setShopFromPath(location.pathname)
const here = screenAt(location.pathname)
here?.component.preload?.()
// Prefetches the screen's first data as soon as the session is known.
const { promise: isReady, resolve: ready } = Promise.withResolvers<unknown>()
const stopWaiting = effect(() => {
  if (sessionStatus.value === 'unknown') return
  ready(sessionStatus.value === 'in' && here?.first && location.search === '' ? prefetch(here.first) : undefined)
  queueMicrotask(() => stopWaiting())
})
watchSession()
warnBeforeUnload()
document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && checkVersion())
// Stores the page's present version, so that a later check detects a new one.
setTimeout(checkVersion, firstVersionMs)
await textsLoaded()
// The script can run before the document is parsed.
if (document.readyState === 'loading') await new Promise((resume) => document.addEventListener('DOMContentLoaded', resume, { once: true }))
watchEvents()
await Promise.race([isReady, new Promise((resume) => setTimeout(resume, blankMaxMs))])
const root = document.getElementById('root')
if (root) render(<App />, root)
watchFocus()
// Removes the message that is shown if this script does not run.
document.querySelector('.startup-message')?.remove()
