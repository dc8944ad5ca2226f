/** The first run, at the page that asks for the token of the terminal. */
import { expect, setDefaultTimeout } from 'bun:test'
import { issueSetupToken } from '../../src/modules/identity/console-session/index.ts'
import { consoleTests } from '../support/console-tests.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests({ isNew: true })

test('whoever has the token becomes the operator by the keyboard, and the pages that stood there beside say that it is done', async ({
  open,
  app,
}) => {
  const token = (await issueSetupToken(app.deps)) ?? ''
  const visitor = await open({ at: 'setup' })
  await visitor.heading('Welcome to souk')
  const [beside, elsewhere] = [await open({ beside: visitor }), await open()]
  for (const one of [beside, elsewhere]) await one.heading('Welcome to souk')
  expect(await visitor.axe()).toEqual([])

  await visitor.keyFill('Token from the terminal', 'mistyped')
  await visitor.keyFill('E-mail address', 'root@example.com')
  await visitor.keyFill('Password', 'password12345')
  visitor.expects('POST /console/setup 400')
  await visitor.key('Enter')
  await visitor.text('Token from the terminal: ')
  expect(await visitor.has('(body)')).toBe(false)
  await visitor.keyFill('Token from the terminal', 'a'.repeat(43), { back: true })
  await visitor.keyFill('E-mail address', 'root@example.com')
  await visitor.keyFill('Password', 'password12345')
  visitor.expects('POST /console/setup 401')
  await visitor.key('Enter')
  await visitor.text('The token is not good')

  await visitor.keyFill('Token from the terminal', token, { back: true })
  await visitor.keyFill('Password', 'qwertyuiop')
  await visitor.key('Enter')
  await visitor.text('Password: ')
  expect(await visitor.value('E-mail address')).toBe('root@example.com')
  await visitor.until(
    `document.activeElement?.className === 'form-problem' && /common/.test(document.activeElement.innerText)`,
    'a refusal',
  )

  await visitor.keyFill('Password', 'a harbour at dusk')
  await visitor.key('Enter')
  await visitor.until(`location.pathname === '/console/net' && document.querySelector('main h1') !== null`, 'the operator’s start')
  await beside.until(`location.pathname === '/console/net' && document.querySelector('main h1') !== null`, 'the other tab is in as well')

  elsewhere.expects('POST /console/setup 409')
  await elsewhere.keyFill('Token from the terminal', token)
  await elsewhere.keyFill('E-mail address', 'other@example.com')
  await elsewhere.keyFill('Password', 'a harbour at dawn')
  await elsewhere.key('Enter')
  await elsewhere.heading('Log in to souk')
  await elsewhere.text('Somebody has become the operator already')
  await elsewhere.keyFill('E-mail address', 'root@example.com')
  await elsewhere.keyFill('Password', 'a harbour at dusk')
  await elsewhere.key('Enter')
  await elsewhere.until(`location.pathname === '/console/net' && document.querySelector('main h1') !== null`, 'in')
})
