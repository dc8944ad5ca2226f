/** What an owner sees to now and then, in a real browser: webhooks, staff, mails, the business behind the shop, one's own account. */
import { expect, setDefaultTimeout } from 'bun:test'
import decodeQR from 'qr/decode.js'
import { consoleTests } from '../support/console-tests.ts'
import type { ConsoleVisitor } from '../support/console-visitor.ts'
import { approved } from '../support/kyb.ts'
import { hearsNothing } from '../support/lost-response.ts'
import { ok, sellingIn } from '../support/selling.ts'
import { invited, staffOf } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'
import { begunTotp, codeAt } from '../support/totp.ts'
import { deliver, endpointOf, loopbackAllowed, receiver, tell } from '../support/webhooks.ts'

setDefaultTimeout(longTestMs)

const evil = 'A‮ "><img src=x onerror=alert(1)> <b>bold</b> '
const long = (length: number) => (evil + 'W'.repeat(length)).slice(0, length)

const { test } = consoleTests({ settings: { LENDING_PLATFORM_ENABLED: 'false', ...loopbackAllowed } })

/** What a camera reads where something is shown. */
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
  const seen = (await page.evaluate(`(async () => {
    const bytes = Uint8Array.from(atob('${png}'), (one) => one.charCodeAt(0))
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
    const { width, height } = bitmap
    const context = new OffscreenCanvas(width, height).getContext('2d')
    context.drawImage(bitmap, 0, 0)
    return { width, height, data: [...context.getImageData(0, 0, width, height).data] }
  })()`)) as { width: number; height: number; data: number[] }
  return decodeQR({ ...seen, data: Uint8Array.from(seen.data) }, { timeLimit: 60_000 })
}

test('an endpoint is registered by the keyboard, and its secret is shown once', async ({ open, app, shop }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings/webhooks` })
  await visitor.heading('Webhooks')
  await visitor.keyPress('New endpoint', { role: 'link' })
  await visitor.keyFill('Address', 'https://127.0.0.1.example:22/souk')
  await visitor.keyPress('Register it', { role: 'button' })
  await visitor.text('Choose at least one event.')
  await visitor.keyPress('order.confirmed', { role: 'checkbox', key: 'Space' })
  visitor.expects('POST /webhook-endpoints 400')
  await visitor.keyPress('Register it', { role: 'button' })
  await visitor.text('did not work')
  await visitor.keyFill('Address', 'https://hooks.example/souk')
  await visitor.keyPress('Register it', { role: 'button' })
  await visitor.there('Signing secret', { role: 'region' })
  await visitor.text('whsec_')
  expect(await visitor.axe()).toEqual([])
  // Who goes elsewhere is told that it is lost for good, and not that they typed something.
  await visitor.press('Orders', { role: 'link' })
  await visitor.there('Do you have it?', { role: 'dialog' })
  await visitor.text('shown this once, and never again')
  await visitor.press('Stay', { role: 'button' })
  await visitor.text('whsec_')
  await visitor.keyPress('I have it', { role: 'button' })
  await visitor.until(`!document.body.innerText.includes('whsec_')`, 'the secret is gone')
  await visitor.keyPress('https://hooks.example/souk', { role: 'link' })
  await visitor.heading('Endpoint')
  await visitor.text('Nothing was sent yet')
  await visitor.keyPress('Remove', { role: 'button' })
  await visitor.there('Remove this endpoint?', { role: 'dialog' })
  await visitor.keyPress('Remove', { role: 'button' })
  await visitor.heading('Webhooks')
  await visitor.text('No endpoint yet')
  expect((await app.call('GET', '/webhook-endpoints', { token: shop.token })).body.data).toEqual([])
})

test('a delivery that was given up is sent again on a phone, and what comes back is seen', async ({ open, app, shop }) => {
  let status = 410
  await using server = receiver(() => new Response('no', { status }))
  const endpoint = await endpointOf(app, shop, `${server.url}hook`)
  status = 500
  await tell(app, shop, 'one')
  await deliver(app)
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings/webhooks/${endpoint.id}`, width: 'phone', scheme: 'dark' })
  await visitor.heading('Endpoint')
  await visitor.text('order.confirmed')
  await visitor.text('500')
  expect(await visitor.axe()).toEqual([])
  status = 204
  await visitor.press(/^Send again/, { role: 'button' })
  await visitor.there('It is being sent', {})
  await deliver(app)
  await visitor.text('Delivered')
  expect(server.received).toHaveLength(2)
  expect(new Set(server.received.map(({ headers }) => headers.get('webhook-id'))).size).toBe(1)
})

test('whoever is gone from the staff meanwhile is gone from the list once one presses anything of theirs', async ({ open, app, shop }) => {
  const people = [await invited(app, shop, 'READ_ONLY'), await invited(app, shop, 'READ_ONLY')]
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings/staff` })
  await visitor.heading('Staff')
  const isListed = ({ email }: { email: string }) =>
    `[...document.querySelectorAll('tr')].some(({ innerText }) => innerText.includes(${JSON.stringify(email)}))`
  for (const [person, action] of people.map((one, place) => [one, place === 0 ? 'Remove' : 'Change the role'] as const)) {
    await visitor.until(isListed(person), 'the row')
    ok(await app.call('DELETE', `/shops/v2/staff/${person.id}`, { token: shop.token }), 204)
    visitor.expects(`GET /shops/v2/staff/${person.id} 404`)
    await visitor.press(`${action} : ${person.email}`, { role: 'button' })
    await visitor.until(`!${isListed(person)}`, 'no row')
  }
})

test('somebody is invited by the keyboard, gets another role and is removed', async ({ open, app, shop }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings/staff` })
  await visitor.heading('Staff')
  await visitor.keyFill('E-mail address', 'newcomer@example.com')
  await visitor.keyPress('Invite', { role: 'button' })
  await visitor.there('Link of the invitation', { role: 'region' })
  await visitor.text('http')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('I have it', { role: 'button' })
  await visitor.keyPress(/^Change the role.*newcomer@example.com/, { role: 'button' })
  await visitor.there('Role of newcomer@example.com', { role: 'dialog' })
  await visitor.fill('Role', 'Manager', { within: 'Role of newcomer@example.com' })
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Save', { role: 'button' })
  await visitor.there(/newcomer@example.com is Manager now/, {})
  await visitor.keyPress(/^Remove.*newcomer@example.com/, { role: 'button' })
  await visitor.there('Remove newcomer@example.com?', { role: 'dialog' })
  await visitor.keyPress('Remove', { role: 'button' })
  await visitor.there('newcomer@example.com is removed', {})
  const { data } = (await app.call('GET', '/shops/v2/staff', { token: shop.token })).body
  expect(data.map(({ email }: { email: string }) => email)).not.toContain('newcomer@example.com')
})

test('the only owner is told why they stay one, and two who change a role at once see both', async ({ open, app, shop }) => {
  const other = await invited(app, shop, 'READ_ONLY')
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings/staff` })
  await visitor.heading('Staff')
  visitor.expects(/DELETE \/shops\/v2\/staff\/\S+ 409/)
  await visitor.press(`Remove : ${shop.email}`, { role: 'button' })
  await visitor.press('Remove', { role: 'button', within: /^Remove .*\?$/ })
  await visitor.text('did not work')
  await visitor.press(`Change the role : ${other.email}`, { role: 'button' })
  await visitor.there(`Role of ${other.email}`, { role: 'dialog' })
  ok(await app.call('PATCH', `/shops/v2/staff/${other.id}`, { token: shop.token, body: { role: 'FULFILMENT' } }))
  await visitor.fill('Role', 'Manager', { within: `Role of ${other.email}` })
  visitor.expects(/PATCH \/shops\/v2\/staff\/\S+ 412/)
  await visitor.press('Save', { role: 'button' })
  await visitor.there('Somebody else changed this meanwhile', { role: 'dialog' })
  await visitor.text('Fulfilment')
  await visitor.press('Save mine over it', { role: 'button' })
  await visitor.there(/is Manager now/, {})
})

test('whose role is taken away in the middle is told so', async ({ open, app, shop }) => {
  const second = await staffOf(app, shop, 'OWNER')
  const visitor = await open({ as: second, at: `s/${shop.shop.name}/settings/staff` })
  await hearsNothing(visitor)
  await visitor.heading('Staff')
  await visitor.text(`${second.email} (you)`)
  ok(await app.call('PATCH', `/shops/v2/staff/${second.staffId}`, { token: shop.token, body: { role: 'READ_ONLY' } }))
  visitor.expects(/POST \/shops\/v2\/staff 403/)
  await visitor.fill('E-mail address', 'friend@example.com')
  await visitor.press('Invite', { role: 'button' })
  await visitor.text('did not work')
})

test('mails are changed by the keyboard on a phone, and seen in each language', async ({ open, app, shop }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings/mail`, width: 'phone' })
  await visitor.heading('Mail')
  await visitor.text('No mails are sent from here')
  await visitor.text('Thank you for your order')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyFill('Sender’s name', '<b>Shop</b> of A')
  await visitor.keyPress('Save', { role: 'button' })
  await visitor.there('Saved', {})
  expect((await app.call('GET', '/shops/v2/mail', { token: shop.token })).body.senderName).toBe('<b>Shop</b> of A')
  // Of what is typed here nothing is used where nothing is.
  await visitor.text(`Empty: the shop’s title, ${shop.shop.title}`)
  await visitor.press('العربية', { role: 'link' })
  await visitor.until(`document.querySelector('.mail-preview pre')?.innerText.match(/[\u0600-\u06ff]/)`, 'Arabic')
  expect(await visitor.path()).toContain('in=ar')
  await visitor.fill('Mail', 'Invitation to the staff')
  await visitor.until(`location.search.includes('mail=invitation')`, 'the address')
  await visitor.press('Phone', { role: 'link' })
  await visitor.settled()
  expect(await visitor.axe()).toEqual([])
  await visitor.back()
  await visitor.until(`!location.search.includes('width=phone')`, 'back')
})

test('where souk sends no mails, a draft’s link is not offered to be mailed', async ({ open, app }) => {
  const selling = await sellingIn(app)
  const lines = [{ variantId: selling.variantId, quantity: 1 }]
  const draft = ok(await selling.post('/v2/orders/drafts', { lines, email: 'ann@example.com' }), 201).body
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/orders/drafts/${draft.id}` })
  await visitor.text('pass the link on yourself')
  expect(await visitor.all('button', { within: 'Link to pay' })).not.toContain('Mail the link')
})

test('two who change the mails at once see what differs', async ({ open, app, shop }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings/mail` })
  await visitor.heading('Mail')
  await visitor.fill('Answers go to', 'mine@example.com')
  ok(await app.call('PUT', '/shops/v2/mail', { token: shop.token, body: { replyTo: 'theirs@example.com' } }))
  visitor.expects('PUT /shops/v2/mail 412')
  await visitor.press('Save', { role: 'button' })
  await visitor.there('Somebody else changed this meanwhile', { role: 'dialog' })
  await visitor.text('theirs@example.com')
  await visitor.press('Show what is there now', { role: 'button' })
  await visitor.until(`document.querySelector('input[inputmode=email]').value === 'theirs@example.com'`, 'theirs')
})

test('a business is filed by the keyboard, rejected, filed again, and the shop goes live', async ({ open, app }) => {
  const [shop, operator] = [await app.merchant(), await app.superAdmin()]
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings/verification` })
  // Nothing was filed yet.
  visitor.expects('GET /kyb 404')
  await visitor.heading('Verification and going live')
  await visitor.keyFill('Legal name', long(200))
  await visitor.keyFill('Registration number', '4711')
  await visitor.keyFill('Name of owner 1', evil)
  await visitor.keyFill('Share in percent of owner 1', '100.5')
  await visitor.keyPress('Send it for review', { role: 'button' })
  await visitor.text('Look at the shares')
  await visitor.keyFill('Share in percent of owner 1', '60')
  await visitor.keyPress('Another owner', { role: 'button' })
  await visitor.keyFill('Name of owner 2', 'B')
  await visitor.keyFill('Share in percent of owner 2', '33.3333')
  await visitor.keyPress('Send it for review', { role: 'button' })
  await visitor.there('It is filed: somebody will look at it', {})
  await visitor.text('It is being looked at')
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
  await visitor.keyPress('Send it for review', { role: 'button' })
  await visitor.text('It is being looked at')
  const again = (await app.call('GET', '/kyb', { token: shop.token })).body
  expect(again).toMatchObject({ status: 'PENDING', registrationNumber: '4712', owners: [{ share: 60 }, { name: 'B', share: 33.3333 }] })
  // What cannot be yet is not asked about.
  await visitor.press('Go live', { role: 'button' })
  await visitor.there(/First do what is needed/, {})
  expect(await visitor.all('dialog')).toEqual([])
  ok(await decide(again.id, { decision: 'APPROVED' }))
  await visitor.text('The business is verified.')
  // What the approval changes above the button moves it: the keyboard finds it wherever it stands.
  await visitor.keyPress('Go live', { role: 'button' })
  await visitor.press('Go live', { role: 'button', within: 'Take real money from now on?' })
  await visitor.text('The shop is live')
  await visitor.text('pk_live_')
  expect(await visitor.axe()).toEqual([])
  expect((await app.call('GET', '/shops/v2', { token: shop.token })).body.mode).toBe('LIVE')
})

test('a password is changed, and a wrong one is tried once', async ({ open, app }) => {
  const shop = await app.merchant()
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders` })
  // Not at its own address: the page has a field for the password, by which a login is known to wait.
  await visitor.heading('Orders')
  await visitor.go('account')
  await visitor.heading('Your account')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyFill('Present password', 'not the one at all')
  await visitor.keyFill('New password', 'another word to pass by')
  await visitor.keyFill('New password again', 'another word to pass b')
  await visitor.keyPress('Change the password', { role: 'button' })
  await visitor.text('The two new passwords differ.')
  await visitor.keyFill('New password again', 'another word to pass by')
  visitor.expects('POST /auth/password 401')
  await visitor.keyPress('Change the password', { role: 'button' })
  await visitor.text('did not work')
  expect(visitor.requests().filter((one) => one.startsWith('POST /auth/password'))).toEqual(['POST /auth/password 401'])
  await visitor.keyFill('Present password', shop.password)
  await visitor.keyPress('Change the password', { role: 'button' })
  await visitor.there('The password is changed', {})
  const body = { email: shop.email, password: 'another word to pass by' }
  expect((await app.call('POST', '/merchant/login', { body })).status).toBe(200)
})

test('a second factor is set up on a phone, shows its codes once, and is turned off', async ({ open, app, clock }) => {
  const shop = await app.merchant()
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders`, width: 'phone', scheme: 'dark' })
  // Not at its own address: the page has a field for the password, by which a login is known to wait.
  await visitor.heading('Orders')
  await visitor.go('account')
  await visitor.heading('Your account')
  expect(await visitor.all('button', { within: 'Second factor' })).toEqual(['Set it up'])
  await visitor.keyPress('Set it up', { role: 'button' })
  await visitor.fill('Present password', shop.password, { within: 'Set up the second factor' })
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Continue', { role: 'button', within: 'Set up the second factor' })
  await visitor.text('otpauth://totp/')
  await visitor.there('QR code for the app', { role: 'image' })
  const uri = await visitor.page.evaluate(`document.querySelectorAll('.copyable code')[1].textContent`)
  for (const scheme of ['light', 'dark'] as const) {
    await visitor.scheme(scheme)
    expect(await visitor.axe()).toEqual([])
    // As a camera has it: what is read of the picture is what an app is to know.
    expect(await readCode(visitor, '.qr-code')).toBe(String(uri))
  }
  const secret = await visitor.page.evaluate(`document.querySelector('.copyable code').textContent`)
  visitor.expects('POST /auth/totp/confirm 401')
  await visitor.keyFill('Code of the app', '000000')
  await visitor.keyPress('Turn it on', { role: 'button' })
  await visitor.text('did not work')
  await visitor.keyFill('Code of the app', codeAt(String(secret), clock.now()))
  await visitor.keyPress('Turn it on', { role: 'button' })
  await visitor.there('Recovery codes', { role: 'region' })
  expect(await visitor.axe()).toEqual([])
  const codes = (await visitor.page.evaluate(`[...document.querySelectorAll('.codes code')].map((one) => one.textContent)`)) as string[]
  expect(codes).toHaveLength(10)
  await visitor.press('I have written them down', { role: 'button' })
  await visitor.press('Turn it off', { role: 'button' })
  const dialog = 'Turn the second factor off'
  await visitor.fill('Present password', 'another than mine', { within: dialog })
  await visitor.fill('Code of the app, or a recovery code', codes[0] ?? '', { within: dialog })
  visitor.expects('DELETE /auth/totp 401')
  await visitor.press('Turn it off', { role: 'button', within: dialog })
  await visitor.text('The password is wrong')
  expect(await visitor.has('e-mail address or the password')).toBe(false)
  await visitor.fill('Present password', shop.password, { within: dialog })
  await visitor.fill('Code of the app, or a recovery code', codes[0] ?? '', { within: dialog })
  await visitor.press('Turn it off', { role: 'button', within: dialog })
  await visitor.there('The second factor is off', {})
  expect((await app.call('GET', '/merchant/me', { token: shop.token })).status).toBe(401)
})

test('an operator sees at once that a second factor is on, with how many recovery codes are left', async ({ open, app, clock }) => {
  const operator = await app.superAdmin()
  const code = codeAt(await begunTotp(app, operator), clock.now())
  const confirmed = ok(await app.call('POST', '/auth/totp/confirm', { token: operator.token, body: { code } }))
  const recoveryCodes: string[] = confirmed.body.recoveryCodes
  const use = async (one: string | undefined) =>
    (await app.call('POST', '/merchant/login', { body: { email: operator.email, password: operator.password, code: one } })).status
  expect(await use(recoveryCodes[0])).toBe(200)
  const visitor = await open({ as: { ...operator, code: recoveryCodes[1] ?? '' }, at: 'net/jobs' })
  await visitor.heading('Jobs')
  await visitor.go('account')
  await visitor.heading('Your account')
  await visitor.text('8 recovery codes are left.')
  expect(await visitor.all('button', { within: 'Second factor' })).toEqual(['Turn it off'])
  expect(await visitor.axe()).toEqual([])
  for (const one of recoveryCodes.slice(2, 7)) expect(await use(one)).toBe(200)
  await visitor.go('net/jobs')
  await visitor.heading('Jobs')
  await visitor.go('account')
  await visitor.text('3 recovery codes are left. Turn the second factor off and set it up again')
})

test('sessions are ended, one and all others', async ({ open, app }) => {
  const shop = await app.merchant()
  const login = () => app.call('POST', '/merchant/login', { body: { email: shop.email, password: shop.password } })
  await login()
  await login()
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders` })
  // Not at its own address: the page has a field for the password, by which a login is known to wait.
  await visitor.heading('Orders')
  await visitor.go('account')
  await visitor.heading('Your account')
  const before = (await visitor.all('button', { within: 'Sessions' })).filter((name) => name.startsWith('End it')).length
  expect(before).toBeGreaterThanOrEqual(2)
  await visitor.press(/^End it/, { role: 'button' })
  await visitor.there('The session is over', {})
  await visitor.keyPress('End all others', { role: 'button' })
  await visitor.there('End all other sessions?', { role: 'dialog' })
  await visitor.keyPress('End all others', { role: 'button' })
  await visitor.there('All other sessions are over', {})
  await visitor.until(`![...document.querySelectorAll('button')].some((one) => one.textContent.startsWith('End it'))`, 'none is left')
})

test('a disabled lending feature is reported', async ({ open, app }) => {
  const [shop, operator] = [await app.merchant(), await app.superAdmin()]
  await approved(app, shop, operator)
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/lending` })
  visitor.expects(/GET \/lending-application\S* 404/)
  await visitor.heading('Lending')
  await visitor.text('There is no lending here')
  expect(await visitor.axe()).toEqual([])
})
