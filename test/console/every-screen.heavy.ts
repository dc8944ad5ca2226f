/** Tests every screen of the console in the demo's shops: axe finds no fault, and the browser reports no error. */
import { beforeAll, expect, setDefaultTimeout } from 'bun:test'
import { addressOf, listedScreens } from '../support/console-screens.ts'
import { demoConsoleTests, hasBrowser } from '../support/console-tests.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = demoConsoleTests()

const screens = await listedScreens()
/** Screens by the beginning of their paths. Each group logs in once. */
const screenGroups = Map.groupBy(screens, ({ path }) => path.replace('/s/:shop', 'shop').split('/').slice(0, 2).join('/'))

/** Each width and each scheme occurs once, because colours do not depend on widths, nor layout on schemes. */
const appearances = [
  ['desk', 'light'],
  ['phone', 'dark'],
] as const

beforeAll(() => {
  if (hasBrowser) expect(screens.length).toBeGreaterThan(40)
})

for (const [group, listed] of screenGroups)
  test(`${group}: every screen is shown completely and without faults, at both widths, in light and dark`, async (console) => {
    const { open, app, merchant, operator, shopName } = console
    const as = listed.every(({ area }) => area === 'net') ? operator : merchant
    const { accessToken } = (await app.call('POST', '/merchant/login', { body: { email: as.email, password: as.password } })).body.data
    const ask = async (path: string) => (await app.call('GET', path, { token: accessToken })).body
    const visitor = await open({ as })
    /** The screens and appearances by fault. */
    const faults = new Map<string, string[]>()
    const note = (fault: string, where: string) => faults.set(fault, [...(faults.get(fault) ?? []), where])
    for (const screen of listed) {
      const address = await addressOf(screen, shopName, ask)
      await visitor.go(address)
      await visitor.heading(/./)
      await visitor.settled()
      const title = String(await visitor.page.evaluate('document.title'))
      if (!title.trim()) note('no title', screen.path)
      for (const [width, scheme] of appearances) {
        await visitor.width(width)
        await visitor.scheme(scheme)
        for (const fault of await visitor.axe()) note(fault, `${screen.path} (${width}, ${scheme})`)
      }
    }
    expect([...faults].map(([fault, screensWithFault]) => `${fault}\n  at ${screensWithFault.join(', ')}`).join('\n')).toBe('')
  })

test('every screen fits a phone in Mongolian', async ({ open, app, merchant, operator, shopName }) => {
  const cut: string[] = []
  for (const as of [merchant, operator]) {
    const { accessToken } = (await app.call('POST', '/merchant/login', { body: { email: as.email, password: as.password } })).body.data
    const ask = async (path: string) => (await app.call('GET', path, { token: accessToken })).body
    const visitor = await open({ as, language: 'mn', width: 'phone' })
    for (const screen of screens.filter(({ area }) => (area === 'net') === (as === operator))) {
      await visitor.go(await addressOf(screen, shopName, ask))
      await visitor.heading(/./)
      await visitor.settled()
      cut.push(...(await visitor.cut()).map((what) => `${screen.path}: ${what}`))
    }
  }
  expect(cut.join('\n')).toBe('')
})
