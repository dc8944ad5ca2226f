/** Tests the console's test harness: a visitor sees and presses what a person would, and every error is noticed. */
import { describe, expect, setDefaultTimeout } from 'bun:test'
import { join } from 'node:path'
import { consoleTests } from '../support/console-tests.ts'
import { temporaryDir } from '../support/database.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests()

describe('a visitor', () => {
  test('logs in by keyboard on the requested page, and finds elements by their names', async ({ open, shop }) => {
    const visitor = await open({ at: `s/${shop.shop.name}/orders` })
    await visitor.heading('Log in to souk')
    await visitor.signIn(shop)
    await visitor.heading('Orders')
    expect(await visitor.path()).toBe(`/console/s/${shop.shop.name}/orders`)
    expect(await visitor.all('heading')).toContain('Orders')
    expect(visitor.requests()).toContain('POST /console/session 200')
    await visitor.key('Control+k')
    await visitor.there(/./, { role: 'dialog' })
    await visitor.keyboardAt(/^(Search|Jump to)/, { role: 'combobox' })
    await visitor.type('disc')
    await visitor.there(/Discounts$/, { role: 'option' })
    // The first Escape clears the field, as in every search field.
    await visitor.key('Escape')
    await visitor.key('Escape')
    await visitor.until(`!document.querySelector('[role=listbox]')`, 'no palette')
    await visitor.keyPress('Products', { role: 'link' })
    await visitor.until(`location.pathname.endsWith('/products')`, 'the address of the products')
    await visitor.back()
    await visitor.heading('Orders')
  })

  test('has the requested width, scheme, language and clock', async ({ open }) => {
    const visitor = await open({ width: 'phone', scheme: 'dark', language: 'ar', timeZone: 'Asia/Ulaanbaatar', clockOffMs: 86_400_000 })
    const actual = await visitor.page.evaluate(`({
      width: innerWidth,
      dark: matchMedia('(prefers-color-scheme: dark)').matches,
      still: matchMedia('(prefers-reduced-motion: reduce)').matches,
      language: navigator.language,
      direction: document.documentElement.dir,
      zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      day: Date.now() - performance.timeOrigin > 86_000_000,
    })`)
    expect(actual).toEqual({ width: 360, dark: true, still: true, language: 'ar', direction: 'rtl', zone: 'Asia/Ulaanbaatar', day: true })
    await visitor.scheme('light', { 'forced-colors': 'active' })
    expect(await visitor.page.evaluate(`matchMedia('(forced-colors: active)').matches`)).toBe(true)
    await visitor.width('desk')
    expect(await visitor.page.evaluate('innerWidth')).toBe(1280)
  })

  test('sees instructions without scripts', async ({ open }) => {
    const visitor = await open({ scripts: false })
    await visitor.there('souk', { role: 'heading' })
    await visitor.there(/This page requires JavaScript/, {})
    expect(visitor.requests().filter((one) => one.startsWith('POST'))).toEqual([])
  })

  test('opens another tab of the same browser, which is also logged in', async ({ open, shop }) => {
    const first = await open({ as: shop, at: `s/${shop.shop.name}/orders` })
    await first.heading('Orders')
    const second = await open({ beside: first, at: `s/${shop.shop.name}/orders` })
    await second.heading('Orders')
  })

  test('fills fields, chooses, ticks and uploads, by pointer and by keyboard', async ({ open }) => {
    const visitor = await open()
    await visitor.page.evaluate(`(() => {
      const make = (name, more, ...inside) => { const one = Object.assign(document.createElement(name), more); one.append(...inside); return one }
      const list = make('select', {}, make('option', { value: 'a', textContent: 'One' }), make('option', { value: 'b', textContent: 'Two' }))
      const button = make('button', { type: 'button', textContent: 'Go', onclick: () => { document.title = 'gone' } })
      const row = (text) => make('li', {}, text + ' ', make('button', { type: 'button', textContent: 'Pick', onclick: () => { document.title = text } }))
      document.body.replaceChildren(make('main', {},
        make('h1', { textContent: 'Things' }),
        make('label', {}, 'Name ', make('input', {})), make('label', {}, 'Kind ', list), make('label', {}, 'Day ', make('input', { type: 'date' })),
        make('label', {}, make('input', { type: 'checkbox' }), ' Wrapped'), make('label', {}, 'Picture ', make('input', { type: 'file' })),
        button, make('ul', {}, row('first'), row('second'))))
    })()`)
    await visitor.heading('Things')
    await visitor.fill('Name', 'Noor')
    await visitor.fill('Kind', 'Two')
    await visitor.fill('Day', '2026-11-23')
    await visitor.press('Wrapped')
    expect(await Promise.all(['Name', 'Kind', 'Day', 'Wrapped'].map((label) => visitor.value(label)))).toEqual([
      'Noor',
      'b',
      '2026-11-23',
      true,
    ])
    const file = join(temporaryDir(), 'picture.png')
    await Bun.write(file, 'x')
    await visitor.upload(/^Picture/, [file])
    expect(await visitor.page.evaluate(`document.querySelector('[type=file]').files[0].name`)).toBe('picture.png')
    await visitor.press('Pick', { within: 'second' })
    expect(await visitor.page.evaluate('document.title')).toBe('second')
    await visitor.keyFill('Name', 'Sara')
    expect(await visitor.value('Name')).toBe('Sara')
    await visitor.keyPress('Go', { role: 'button' })
    expect(await visitor.page.evaluate('document.title')).toBe('gone')
    expect(visitor.fill('Kind', 'Three')).rejects.toThrow('Kind has no Three')
    expect(visitor.tabTo('Things')).rejects.toThrow('the Tab key does not come to Things')
  })

  test('notices policy violations, errors, refusals, requests to other origins, and expected errors that did not occur', async ({
    open,
  }) => {
    const visitor = await open()
    const { page } = visitor
    const provoke: [what: RegExp, by: string][] = [
      [/^console error: shown$/, `console.error('shown')`],
      [/^exception: Error: thrown/, `void setTimeout(() => { throw new Error('thrown') })`],
      [/^GET \/console\/assets\/no-1\.js 404/, `fetch('/console/assets/no-1.js').then(() => 1)`],
      [/connect-src/, `fetch('http://127.0.0.2:9/').catch(() => 1)`],
      [/style-src|inline style/, `void document.body.append(Object.assign(document.createElement('style'), { textContent: 'p{}' }))`],
      [/TrustedHTML/, `(() => { try { document.body.insertAdjacentHTML('beforeend', '<p>') } catch {} })()`],
      [/TrustedScript|unsafe-eval/, `(() => { try { setTimeout('document.title = "run"') } catch {} })()`],
      [/Loading the script 'data:/, `void import('data:text/javascript,1').catch(() => 1)`],
    ]
    for (const [what, by] of provoke) {
      const before = new Set(visitor.complaints())
      const since = () => visitor.complaints().filter((one) => !before.has(one))
      await page.evaluate(by)
      for (let look = 0; look < 1_000 && !since().some((one) => what.test(one)); look++) await Bun.sleep(10)
      expect([by, since().join('\n')]).toEqual([by, expect.stringMatching(what)])
    }
    visitor.expects(/never/)
    expect(visitor.complaints().at(-1)).toContain('expected, and never came')
    visitor.expects(/./)
    await page.evaluate(`console.error('never')`)
    for (let look = 0; look < 1_000 && visitor.complaints().length > 0; look++) await Bun.sleep(10)
  })
})
