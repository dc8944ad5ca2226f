/** Tests an owner's occasional tasks in a browser: webhooks, staff, mails, business verification and the account. */
import { expect, setDefaultTimeout } from 'bun:test'
import decodeQR from 'qr/decode.js'
import { consoleTests } from '../support/console-tests.ts'
import type { ConsoleVisitor } from '../support/console-visitor.ts'
import { approveBusiness } from '../support/kyb.ts'
import { reloadWithoutEvents } from '../support/lost-response.ts'
import { ok, sellingIn } from '../support/selling.ts'
import { invitePerson, staffOf } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'
import { beginTotp, codeAt } from '../support/totp.ts'
import { deliver, enqueueEvent, loopbackAllowed, receiver, registerEndpoint } from '../support/webhooks.ts'

setDefaultTimeout(longTestMs)

const evil = 'A‮ "><img src=x onerror=alert(1)> <b>bold</b> '
const long = (length: number) => (evil + 'W'.repeat(length)).slice(0, length)

const { test } = consoleTests({ settings: { LENDING_PLATFORM_ENABLED: 'false', ...loopbackAllowed } })

/** Reads a QR code from a screenshot of an element, as a camera does. */
async function readCode({ page }: ConsoleVisitor, selector: string): Promise<string> {
  const clip = await page.evaluate(`(() => {
    const one = document.querySelector('${selector}')
    one.scrollIntoView({ block: 'center' })
    const { x, y, width, height } = one.getBoundingClientRect()
    return { x: x + scrollX, y: y + scrollY, width, height, scale: 1 }
  })()`)
  const { data: png } = (await page.command('Page.captureScreenshot', { format: 'png', clip, captureBeyondViewport: true })) as {
    data: string
  }
  const decoded = (await page.evaluate(`(async () => {
    const bytes = Uint8Array.from(atob('${png}'), (one) => one.charCodeAt(0))
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
    const { width, height } = bitmap
    const context = new OffscreenCanvas(width, height).getContext('2d')
    context.drawImage(bitmap, 0, 0)
    return { width, height, data: [...context.getImageData(0, 0, width, height).data] }
  })()`)) as { width: number; height: number; data: number[] }
  return decodeQR({ ...decoded, data: Uint8Array.from(decoded.data) }, { timeLimit: 60_000 })
}

test('an endpoint is registered by keyboard, and its secret is shown once', async ({ open, app, shop }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings/webhooks` })
  await visitor.heading('Webhooks')
  await visitor.keyPress('Add endpoint', { role: 'link' })
  await visitor.keyFill('Endpoint URL', 'https://127.0.0.1.example:22/souk')
  await visitor.keyPress('Add endpoint', { role: 'button' })
  await visitor.text('Select at least one event')
  await visitor.keyPress('order.confirmed', { role: 'checkbox', key: 'Space' })
  visitor.expects('POST /webhook-endpoints 400')
  await visitor.keyPress('Add endpoint', { role: 'button' })
  await visitor.until(`document.querySelector('.problem, .toast.bad') !== null`, 'an error')
  await visitor.keyFill('Endpoint URL', 'https://hooks.example/souk')
  await visitor.keyPress('Add endpoint', { role: 'button' })
  await visitor.there('Signing secret', { role: 'region' })
  await visitor.text('whsec_')
  expect(await visitor.axe()).toEqual([])
  // Leaving warns that the value is lost, not that input is unsaved.
  await visitor.press('Orders', { role: 'link' })
  await visitor.there('Have you saved it?', { role: 'dialog' })
  await visitor.text('You won’t be able to see this again.')
  await visitor.press('Stay', { role: 'button' })
  await visitor.text('whsec_')
  await visitor.keyPress('I’ve saved it', { role: 'button' })
  await visitor.until(`!document.body.innerText.includes('whsec_')`, 'the secret is gone')
  await visitor.keyPress('https://hooks.example/souk', { role: 'link' })
  await visitor.heading('Endpoint')
  await visitor.text('No deliveries yet')
  await visitor.keyPress('Delete', { role: 'button' })
  await visitor.there('Delete endpoint?', { role: 'dialog' })
  await visitor.keyPress('Delete', { role: 'button' })
  await visitor.heading('Webhooks')
  await visitor.text('No endpoints yet')
  expect((await app.call('GET', '/webhook-endpoints', { token: shop.token })).body.data).toEqual([])
})

test('a failed delivery is resent on a phone, and its response is shown', async ({ open, app, shop }) => {
  let status = 410
  await using server = receiver(() => new Response('no', { status }))
  const endpoint = await registerEndpoint(app, shop, `${server.url}hook`)
  status = 500
  await enqueueEvent(app, shop, 'one')
  await deliver(app)
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings/webhooks/${endpoint.id}`, width: 'phone', scheme: 'dark' })
  await visitor.heading('Endpoint')
  await visitor.text('order.confirmed')
  await visitor.text('500')
  expect(await visitor.axe()).toEqual([])
  status = 204
  await visitor.press(/^Resend/, { role: 'button' })
  await visitor.there('Resending', {})
  await deliver(app)
  await visitor.text('Delivered')
  expect(server.received).toHaveLength(2)
  expect(new Set(server.received.map(({ headers }) => headers.get('webhook-id'))).size).toBe(1)
})

test('a staff member who was removed in the meantime disappears from the list when one of their buttons is pressed', async ({
  open,
  app,
  shop,
}) => {
  const people = [await invitePerson(app, shop, 'READ_ONLY'), await invitePerson(app, shop, 'READ_ONLY')]
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings/staff` })
  await visitor.heading('Staff')
  const isListed = ({ email }: { email: string }) =>
    `[...document.querySelectorAll('tr')].some(({ innerText }) => innerText.includes(${JSON.stringify(email)}))`
  for (const [person, action] of people.map((one, at) => [one, at === 0 ? 'Remove' : 'Change role'] as const)) {
    await visitor.until(isListed(person), 'the row')
    ok(await app.call('DELETE', `/shops/v2/staff/${person.id}`, { token: shop.token }), 204)
    visitor.expects(`GET /shops/v2/staff/${person.id} 404`)
    await visitor.press(`${action} : ${person.email}`, { role: 'button' })
    await visitor.until(`!${isListed(person)}`, 'no row')
  }
})

test('a person is invited by keyboard, gets another role and is removed', async ({ open, app, shop }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings/staff` })
  await visitor.heading('Staff')
  await visitor.keyFill('Email', 'newcomer@example.com')
  await visitor.keyPress('Send invitation', { role: 'button' })
  await visitor.there('Invitation link', { role: 'region' })
  await visitor.text('http')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('I’ve saved it', { role: 'button' })
  await visitor.keyPress(/^Change role.*newcomer@example.com/, { role: 'button' })
  await visitor.there('Role of newcomer@example.com', { role: 'dialog' })
  await visitor.fill('Role', 'Manager', { within: 'Role of newcomer@example.com' })
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Save', { role: 'button' })
  await visitor.there(/newcomer@example.com is now Manager/, {})
  await visitor.keyPress(/^Remove.*newcomer@example.com/, { role: 'button' })
  await visitor.there('Remove newcomer@example.com?', { role: 'dialog' })
  await visitor.keyPress('Remove', { role: 'button' })
  await visitor.there('newcomer@example.com removed', {})
  const { data } = (await app.call('GET', '/shops/v2/staff', { token: shop.token })).body
  expect(data.map(({ email }: { email: string }) => email)).not.toContain('newcomer@example.com')
})

test('the only owner cannot be removed, and of two concurrent role changes the second sees the conflict', async ({ open, app, shop }) => {
  const other = await invitePerson(app, shop, 'READ_ONLY')
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings/staff` })
  await visitor.heading('Staff')
  visitor.expects(/DELETE \/shops\/v2\/staff\/\S+ 409/)
  await visitor.press(`Remove : ${shop.email}`, { role: 'button' })
  await visitor.press('Remove', { role: 'button', within: /^Remove .*\?$/ })
  await visitor.text('Something went wrong')
  await visitor.press(`Change role : ${other.email}`, { role: 'button' })
  await visitor.there(`Role of ${other.email}`, { role: 'dialog' })
  ok(await app.call('PATCH', `/shops/v2/staff/${other.id}`, { token: shop.token, body: { role: 'FULFILMENT' } }))
  await visitor.fill('Role', 'Manager', { within: `Role of ${other.email}` })
  visitor.expects(/PATCH \/shops\/v2\/staff\/\S+ 412/)
  await visitor.press('Save', { role: 'button' })
  await visitor.there('Someone else changed this', { role: 'dialog' })
  await visitor.text('Fulfilment')
  await visitor.press('Overwrite with mine', { role: 'button' })
  await visitor.there(/is now Manager/, {})
})

test('an owner who loses the role during an edit sees a message', async ({ open, app, shop }) => {
  const second = await staffOf(app, shop, 'OWNER')
  const visitor = await open({ as: second, at: `s/${shop.shop.name}/settings/staff` })
  await reloadWithoutEvents(visitor)
  await visitor.heading('Staff')
  await visitor.text(`${second.email} (you)`)
  ok(await app.call('PATCH', `/shops/v2/staff/${second.staffId}`, { token: shop.token, body: { role: 'READ_ONLY' } }))
  visitor.expects(/POST \/shops\/v2\/staff 403/)
  await visitor.fill('Email', 'friend@example.com')
  await visitor.press('Send invitation', { role: 'button' })
  await visitor.text('Something went wrong')
})

test('mail settings are changed by keyboard on a phone, and previewed in each language', async ({ open, app, shop }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings/mail`, width: 'phone' })
  await visitor.heading('Email notifications')
  await visitor.text('Email isn’t set up')
  await visitor.text('Thank you for your order')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyFill('Sender name', '<b>Shop</b> of A')
  await visitor.keyPress('Save', { role: 'button' })
  await visitor.there('Saved', {})
  expect((await app.call('GET', '/shops/v2/mail', { token: shop.token })).body.senderName).toBe('<b>Shop</b> of A')
  // An empty field shows its default.
  await visitor.text(`Default: “${shop.shop.title}”`)
  await visitor.press('العربية', { role: 'link' })
  await visitor.until(`document.querySelector('.mail-preview pre')?.innerText.match(/[\u0600-\u06ff]/)`, 'Arabic')
  expect(await visitor.path()).toContain('in=ar')
  await visitor.fill('Template', 'Staff invitation')
  await visitor.until(`location.search.includes('mail=invitation')`, 'the address')
  await visitor.press('Mobile', { role: 'link' })
  await visitor.settled()
  expect(await visitor.axe()).toEqual([])
  await visitor.back()
  await visitor.until(`!location.search.includes('width=phone')`, 'back')
})

test('the texts of a mail are edited, previewed and reset on a phone, in another language', async ({ open, app, shop }) => {
  const at = '/shops/v2/mail/templates/new_order/ar'
  const stored = async () => ok(await app.call('GET', at, { token: shop.token })).body
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings/mail?mail=new_order&in=ar`, width: 'phone' })
  await visitor.press('Edit texts', { role: 'button' })
  await visitor.text('{{orderNumber}}')
  expect(await visitor.axe()).toEqual([])
  await visitor.fill('Closing text', '<b>{{total}}</b> {{nobody}}')
  visitor.expects(`PUT ${at} 400`)
  await visitor.press('Save', { role: 'button', within: 'Edit texts' })
  await visitor.text('must use only these placeholders')
  await visitor.fill('Closing text', '<b>{{total}}</b> Bye')
  await visitor.press('Save', { role: 'button', within: 'Edit texts' })
  await visitor.there('Saved', {})
  expect(await stored()).toMatchObject({ subject: null, intro: null, closing: '<b>{{total}}</b> Bye' })
  await visitor.until(`document.querySelector('.mail-preview pre')?.innerText.includes('</b> Bye')`, 'the preview')
  await visitor.press('Edit texts', { role: 'button' })
  await visitor.press('Reset to default', { role: 'button' })
  await visitor.press('Reset to default', { role: 'button', within: 'Reset the texts of this email?' })
  await visitor.until(`!document.querySelector('.mail-preview pre')?.innerText.includes('Bye')`, 'the default')
  expect((await stored()).closing).toBeNull()
  await visitor.keyFill('Order notifications', 'one@example.com')
  await visitor.key('Enter')
  await visitor.keyFill('Order notifications', 'two@example.com')
  await visitor.key('Enter')
  await visitor.press('Save', { role: 'button' })
  await visitor.until(`dispatchEvent(new Event('beforeunload', { cancelable: true }))`, 'all is saved')
  const { orderMails } = ok(await app.call('GET', '/shops/v2/mail', { token: shop.token })).body
  expect(orderMails).toEqual(['one@example.com', 'two@example.com'])
  expect(await visitor.axe()).toEqual([])
})

test('without a mail server, a draft’s link cannot be mailed', async ({ open, app }) => {
  const selling = await sellingIn(app)
  const lines = [{ variantId: selling.variantId, quantity: 1 }]
  const draft = ok(await selling.post('/v2/orders/drafts', { lines, email: 'ann@example.com' }), 201).body
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/orders/drafts/${draft.id}` })
  await visitor.text('Copy the link and send it yourself')
  expect(await visitor.all('button', { within: 'Payment link' })).not.toContain('Email payment link')
})

test('of two concurrent changes of the mail settings the second sees the difference', async ({ open, app, shop }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings/mail` })
  await visitor.heading('Email notifications')
  await visitor.fill('Reply-to', 'mine@example.com')
  ok(await app.call('PUT', '/shops/v2/mail', { token: shop.token, body: { replyTo: 'theirs@example.com' } }))
  visitor.expects('PUT /shops/v2/mail 412')
  await visitor.press('Save', { role: 'button' })
  await visitor.there('Someone else changed this', { role: 'dialog' })
  await visitor.text('theirs@example.com')
  await visitor.press('Show latest version', { role: 'button' })
  await visitor.until(`document.querySelector('input[inputmode=email]').value === 'theirs@example.com'`, 'theirs')
})

test('a business is submitted by keyboard, rejected and submitted again, and the shop goes live', async ({ open, app }) => {
  const [shop, operator] = [await app.merchant(), await app.superAdmin()]
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings/verification` })
  // Nothing was filed yet.
  visitor.expects('GET /kyb 404')
  await visitor.heading('Business verification')
  await visitor.keyFill('Legal name', long(200))
  await visitor.keyFill('Registration number', '4711')
  await visitor.keyFill('Name of owner 1', evil)
  await visitor.keyFill('Share of owner 1 (%)', '100.5')
  await visitor.keyPress('Submit for review', { role: 'button' })
  await visitor.text('Check the shares')
  await visitor.keyFill('Share of owner 1 (%)', '60')
  await visitor.keyPress('Add owner', { role: 'button' })
  await visitor.keyFill('Name of owner 2', 'B')
  await visitor.keyFill('Share of owner 2 (%)', '33.3333')
  await visitor.keyPress('Submit for review', { role: 'button' })
  await visitor.there('Submitted for review', {})
  await visitor.text('In review')
  await visitor.text('B, 33.3333%')
  expect(await visitor.axe()).toEqual([])
  const { id } = (await app.call('GET', '/kyb', { token: shop.token })).body
  const decide = (of: string, body: object) => app.call('POST', `/admin/kyb/${of}/decision`, { token: operator.token, body })
  ok(await decide(id, { decision: 'REJECTED', reason: `${evil}The number is another one` }))
  await visitor.text('The number is another one')
  await visitor.width('phone')
  expect(await visitor.axe()).toEqual([])
  await visitor.width('desk')
  await visitor.keyFill('Registration number', '4712')
  await visitor.keyPress('Submit for review', { role: 'button' })
  await visitor.text('In review')
  const refiled = (await app.call('GET', '/kyb', { token: shop.token })).body
  expect(refiled).toMatchObject({ status: 'PENDING', registrationNumber: '4712', owners: [{ share: 60 }, { name: 'B', share: 33.3333 }] })
  // An impossible action asks for no confirmation.
  await visitor.press('Go live', { role: 'button' })
  await visitor.there(/Complete the required steps/, {})
  expect(await visitor.all('dialog')).toEqual([])
  ok(await decide(refiled.id, { decision: 'APPROVED' }))
  await visitor.text('The business is verified.')
  // The approval changes the page above the button and moves it, so the test uses the keyboard.
  await visitor.keyPress('Go live', { role: 'button' })
  await visitor.press('Go live', { role: 'button', within: 'Go live?' })
  await visitor.text('Your shop is live')
  await visitor.text('pk_live_')
  expect(await visitor.axe()).toEqual([])
  expect((await app.call('GET', '/shops/v2', { token: shop.token })).body.mode).toBe('LIVE')
})

test('a password is changed, and a wrong current password is sent once', async ({ open, app }) => {
  const shop = await app.merchant()
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders` })
  // Opens another page first: the test detects a login by a password field, which the account page also has.
  await visitor.heading('Orders')
  await visitor.go('account')
  await visitor.heading('Account')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyFill('Current password', 'not the one at all')
  await visitor.keyFill('New password', 'another word to pass by')
  await visitor.keyFill('Confirm new password', 'another word to pass b')
  await visitor.keyPress('Change password', { role: 'button' })
  await visitor.text('Passwords don’t match')
  await visitor.keyFill('Confirm new password', 'another word to pass by')
  visitor.expects('POST /auth/password 401')
  await visitor.keyPress('Change password', { role: 'button' })
  await visitor.text('Something went wrong')
  expect(visitor.requests().filter((one) => one.startsWith('POST /auth/password'))).toEqual(['POST /auth/password 401'])
  await visitor.keyFill('Current password', shop.password)
  await visitor.keyPress('Change password', { role: 'button' })
  await visitor.there('Password changed', {})
  const body = { email: shop.email, password: 'another word to pass by' }
  expect((await app.call('POST', '/merchant/login', { body })).status).toBe(200)
})

test('a second factor is set up on a phone, shows its codes once, and is turned off', async ({ open, app, clock }) => {
  const shop = await app.merchant()
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders`, width: 'phone', scheme: 'dark' })
  // Opens another page first: the test detects a login by a password field, which the account page also has.
  await visitor.heading('Orders')
  await visitor.go('account')
  await visitor.heading('Account')
  expect(await visitor.all('button', { within: 'Two-factor authentication' })).toEqual(['Set up'])
  await visitor.keyPress('Set up', { role: 'button' })
  await visitor.fill('Current password', shop.password, { within: 'Set up two-factor authentication' })
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Continue', { role: 'button', within: 'Set up two-factor authentication' })
  await visitor.text('otpauth://totp/')
  await visitor.there('QR code', { role: 'image' })
  const uri = await visitor.page.evaluate(`document.querySelectorAll('.copyable code')[1].textContent`)
  for (const scheme of ['light', 'dark'] as const) {
    await visitor.scheme(scheme)
    expect(await visitor.axe()).toEqual([])
    // The QR code contains the URI.
    expect(await readCode(visitor, '.qr-code')).toBe(String(uri))
  }
  const secret = await visitor.page.evaluate(`document.querySelector('.copyable code').textContent`)
  visitor.expects('POST /auth/totp/confirm 401')
  await visitor.keyFill('6-digit code', '000000')
  await visitor.keyPress('Turn on', { role: 'button' })
  await visitor.text('Something went wrong')
  await visitor.keyFill('6-digit code', codeAt(String(secret), clock.now()))
  await visitor.keyPress('Turn on', { role: 'button' })
  await visitor.there('Recovery codes', { role: 'region' })
  expect(await visitor.axe()).toEqual([])
  const codes = (await visitor.page.evaluate(`[...document.querySelectorAll('.codes code')].map((one) => one.textContent)`)) as string[]
  expect(codes).toHaveLength(10)
  await visitor.press('I’ve saved them', { role: 'button' })
  await visitor.press('Turn off', { role: 'button' })
  const dialog = 'Turn off two-factor authentication?'
  await visitor.fill('Current password', 'another than mine', { within: dialog })
  await visitor.fill('Authentication or recovery code', codes[0] ?? '', { within: dialog })
  visitor.expects('DELETE /auth/totp 401')
  await visitor.press('Turn off', { role: 'button', within: dialog })
  await visitor.text('The password is wrong')
  expect(await visitor.has('e-mail address or the password')).toBe(false)
  await visitor.fill('Current password', shop.password, { within: dialog })
  await visitor.fill('Authentication or recovery code', codes[0] ?? '', { within: dialog })
  await visitor.press('Turn off', { role: 'button', within: dialog })
  await visitor.there('Two-factor authentication is off', {})
  expect((await app.call('GET', '/merchant/me', { token: shop.token })).status).toBe(401)
})

test('an operator sees that the second factor is on, and how many recovery codes are left', async ({ open, app, clock }) => {
  const operator = await app.superAdmin()
  const code = codeAt(await beginTotp(app, operator), clock.now())
  const confirmed = ok(await app.call('POST', '/auth/totp/confirm', { token: operator.token, body: { code } }))
  const recoveryCodes: string[] = confirmed.body.recoveryCodes
  const use = async (one: string | undefined) =>
    (await app.call('POST', '/merchant/login', { body: { email: operator.email, password: operator.password, code: one } })).status
  expect(await use(recoveryCodes[0])).toBe(200)
  const visitor = await open({ as: { ...operator, code: recoveryCodes[1] ?? '' }, at: 'net/jobs' })
  await visitor.heading('Background jobs')
  await visitor.go('account')
  await visitor.heading('Account')
  await visitor.text('8 recovery codes left')
  expect(await visitor.all('button', { within: 'Two-factor authentication' })).toEqual(['Turn off'])
  expect(await visitor.axe()).toEqual([])
  for (const one of recoveryCodes.slice(2, 7)) expect(await use(one)).toBe(200)
  await visitor.go('net/jobs')
  await visitor.heading('Background jobs')
  await visitor.go('account')
  await visitor.text('Only 3 recovery codes left. Turn two-factor authentication off and on again')
})

test('one session is ended, and then all others', async ({ open, app }) => {
  const shop = await app.merchant()
  const login = () => app.call('POST', '/merchant/login', { body: { email: shop.email, password: shop.password } })
  await login()
  await login()
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders` })
  // Opens another page first: the test detects a login by a password field, which the account page also has.
  await visitor.heading('Orders')
  await visitor.go('account')
  await visitor.heading('Account')
  const before = (await visitor.all('button', { within: 'Active sessions' })).filter((name) => name === 'Log out').length
  expect(before).toBeGreaterThanOrEqual(2)
  await visitor.press('Log out', { role: 'button', within: 'Active sessions' })
  await visitor.there('Logged out', {})
  await visitor.keyPress('Log out everywhere else', { role: 'button' })
  await visitor.there('Log out everywhere else?', { role: 'dialog' })
  await visitor.keyPress('Log out everywhere else', { role: 'button' })
  await visitor.there('Logged out on all other devices', {})
  await visitor.until(`![...document.querySelectorAll('td button')].some((one) => one.textContent === 'Log out')`, 'none is left')
})

test('a disabled lending feature is reported', async ({ open, app }) => {
  const [shop, operator] = [await app.merchant(), await app.superAdmin()]
  await approveBusiness(app, shop, operator)
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/lending` })
  visitor.expects(/GET \/lending-application\S* 404/)
  await visitor.heading('Lending')
  await visitor.text('Financing isn’t available')
  expect(await visitor.axe()).toEqual([])
})
