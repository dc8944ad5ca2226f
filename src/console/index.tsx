import { render } from 'preact'
import { watchLeaving } from './lib/dirty.ts'
import { watchEvents } from './lib/live.ts'
import { begin, watchSession } from './lib/session.ts'
import { checkVersion } from './lib/version.ts'
import { language, wordsLoaded } from './lib/words.ts'
import { App } from './shell/app.tsx'
import './style.css'

document.documentElement.lang = language
document.documentElement.dir = language === 'ar' ? 'rtl' : 'ltr'

// Who is there is asked while the words are on their way.
void begin()
watchSession()
watchLeaving()
document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && checkVersion())
await wordsLoaded()
watchEvents()
const root = document.getElementById('root')
if (root) render(<App />, root)
