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

/** For so long nothing is shown that would be gone in a moment: that the page loads, and a screen without what it reads. */
const blankMaxMs = 150
/** When nothing is waited for any more. */
const firstVersionMs = 5_000

/** An address that is none, such as `%E0%A4%A`: the router could not read it. */
function isReadable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== ''
  } catch {
    return false
  }
}
if (!isReadable(location.pathname)) history.replaceState(null, '', '/console')

// Who is there is asked while the words, and the screen of this address, are on their way.
void startSession()
setShopFromPath(location.pathname)
const here = screenAt(location.pathname)
here?.component.preload?.()
// And what that reads first, in the moment that somebody is in.
const { promise: isReady, resolve: ready } = Promise.withResolvers<unknown>()
const stopWaiting = effect(() => {
  if (sessionStatus.value === 'asking') return
  ready(sessionStatus.value === 'in' && here?.first && location.search === '' ? prefetch(here.first) : undefined)
  queueMicrotask(() => stopWaiting())
})
watchSession()
warnBeforeUnload()
document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && checkVersion())
// By what it is now it knows later that there is another.
setTimeout(checkVersion, firstVersionMs)
await textsLoaded()
// It runs as soon as it is there, which may be before the page is.
if (document.readyState === 'loading') await new Promise((resume) => document.addEventListener('DOMContentLoaded', resume, { once: true }))
watchEvents()
await Promise.race([isReady, new Promise((resume) => setTimeout(resume, blankMaxMs))])
const root = document.getElementById('root')
if (root) render(<App />, root)
watchFocus()
// What is said where none of this runs.
document.querySelector('.not-begun')?.remove()
