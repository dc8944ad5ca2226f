import { render } from 'preact'
import { watchLeaving } from './lib/dirty.ts'
import { watchEvents } from './lib/live.ts'
import { begin, watchSession } from './lib/session.ts'
import { checkVersion } from './lib/version.ts'
import { language, wordsLoaded } from './lib/words.ts'
import { screenAt } from './screens.ts'
import { App } from './shell/app.tsx'
import './style.css'

document.documentElement.lang = language
document.documentElement.dir = language === 'ar' ? 'rtl' : 'ltr'

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
void begin()
screenAt(location.pathname)?.component.preload?.()
watchSession()
watchLeaving()
document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && checkVersion())
// By what it is now it knows later that there is another.
setTimeout(checkVersion, firstVersionMs)
await wordsLoaded()
watchEvents()
const root = document.getElementById('root')
if (root) render(<App />, root)
