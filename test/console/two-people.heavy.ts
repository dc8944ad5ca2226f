/** Tests concurrent edits of a record: no change is overwritten unseen, and no typed text is lost. */
import { expect, setDefaultTimeout } from 'bun:test'
import { join } from 'node:path'
import type { TestApp } from '../support/app.ts'
import { usd } from '../support/catalog.ts'
import { consoleTests } from '../support/console-tests.ts'
import type { ConsoleVisitor } from '../support/console-visitor.ts'
import { temporaryDir } from '../support/database.ts'
import { approveBusiness } from '../support/kyb.ts'
import { pdf } from '../support/lending-documents.ts'
import { ok, sellingIn } from '../support/selling.ts'
import { invitePerson } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests({
  settings: { LENDING_PLATFORM_ENABLED: 'true' },
  fill: async ({ app }) => {
    const [operator, borrower] = [await app.superAdmin(), await app.merchant()]
    await approveBusiness(app, borrower, operator)
    return { operator, borrower, selling: await sellingIn(app, { onHand: 1_000 }) }
  },
})

const address = (digit: number) => `0x${String(digit).repeat(40)}`

/** Returns calls of the API by an operator. */
const operatorOf = (app: TestApp, token: string) => ({
  create: async (path: string, body: object) => ok(await app.call('POST', path, { token, body }), 201).body,
  change: async (path: string, body: object) => ok(await app.call('PATCH', path, { token, body })).body,
  read: async (path: string) => ok(await app.call('GET', path, { token })).body,
})

/** Checks the values in the conflict dialog, and keeps the typed one. */
async function keepTyped(visitor: ConsoleVisitor, stored: string, typed: string): Promise<void> {
  await visitor.there('Someone else changed this', { role: 'dialog' })
  await visitor.there(stored, { role: 'cell' })
  await visitor.there(typed, { role: 'cell' })
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Overwrite with mine', { role: 'button' })
  await visitor.notice('Saved')
  // The message may be that of the previous change.
  await visitor.settled()
}

test('typed text stays when the same user activates a lender, and is saved with the new version', async ({
  open,
  app,
  data: { operator },
}) => {
  const api = operatorOf(app, operator.token)
  const path = `/admin/lenders/${(await api.create('/admin/lenders', { displayName: 'Northern' })).id}`
  const visitor = await open({ as: operator, at: `net/lenders/${path.split('/').at(-1)}` })
  await visitor.heading('Northern')
  await visitor.fill(/^Name/, 'Northern and Sons')
  await visitor.press('Activate', { role: 'button' })
  await visitor.press('Activate', { role: 'button', within: /^Activate .+\?$/ })
  await visitor.there('Suspend', { role: 'button' })
  expect(await visitor.value(/^Name/)).toBe('Northern and Sons')
  await visitor.press('Save', { role: 'button' })
  await visitor.heading('Northern and Sons')
  expect(await api.read(path)).toMatchObject({ displayName: 'Northern and Sons', status: 'ACTIVE' })
})

test('another user’s change of a lender is shown after a transition, and confirmed before it is overwritten', async ({
  open,
  app,
  data: { operator },
}) => {
  const api = operatorOf(app, operator.token)
  const { id } = await api.create('/admin/lenders', { displayName: 'Before' })
  const visitor = await open({ as: operator, at: `net/lenders/${id}` })
  await visitor.heading('Before')
  await visitor.fill(/^Name/, 'Mine')
  await api.change(`/admin/lenders/${id}`, { displayName: 'Theirs' })
  visitor.expects(`PATCH /admin/lenders/${id} 412`)
  await visitor.press('Activate', { role: 'button' })
  await visitor.press('Activate', { role: 'button', within: /^Activate .+\?$/ })
  await visitor.press('Show latest version', { role: 'button' })
  await visitor.heading('Theirs')
  expect(await visitor.value(/^Name/)).toBe('Mine')
  await visitor.press('Save', { role: 'button' })
  await keepTyped(visitor, 'Theirs', 'Mine')
  await visitor.heading('Mine')
  // From here on the version is the user's own, and no conflict is shown.
  await visitor.fill(/^Name/, 'Mine again')
  await visitor.press('Save', { role: 'button' })
  await visitor.heading('Mine again')
})

test('typed text stays when a provider’s secret is replaced, also after a concurrent replacement', async ({
  open,
  app,
  data: { operator },
}) => {
  const api = operatorOf(app, operator.token)
  const { id } = await api.create('/admin/service-providers', { displayName: 'Quay', archetype: 'warehouse' })
  const path = `/admin/service-providers/${id}`
  const visitor = await open({ as: operator, at: `net/providers/${id}` })
  await visitor.heading('Quay')
  await visitor.fill(/^Name/, 'My quay')
  const rotate = async () => {
    await visitor.press('Rotate secret', { role: 'button' })
    await visitor.press('Rotate secret', { role: 'button', within: /^Rotate the secret of/ })
  }
  await rotate()
  await visitor.text('whsec_')
  await visitor.settled()
  expect(await visitor.value(/^Name/)).toBe('My quay')
  await api.change(path, { displayName: 'Their quay' })
  visitor.expects(`POST ${path}/webhook-secret 412`, `PATCH ${path} 412`)
  await rotate()
  await visitor.heading('Their quay')
  expect(await visitor.value(/^Name/)).toBe('My quay')
  await visitor.press('Save', { role: 'button' })
  await keepTyped(visitor, 'Their quay', 'My quay')
  expect(await api.read(path)).toMatchObject({ displayName: 'My quay', archetype: 'warehouse' })
})

test('an activation of a lender or provider by another user is no conflict with a change of the name', async ({
  open,
  app,
  data: { operator },
}) => {
  const api = operatorOf(app, operator.token)
  const lender = `/admin/lenders/${(await api.create('/admin/lenders', { displayName: 'Southern' })).id}`
  const provider = `/admin/service-providers/${(await api.create('/admin/service-providers', { displayName: 'Pier', archetype: 'warehouse' })).id}`
  const visitor = await open({ as: operator })
  for (const [path, screen, was] of [[lender, 'lenders', 'Southern'] as const, [provider, 'providers', 'Pier'] as const]) {
    await visitor.go(`net/${screen}/${path.split('/').at(-1)}`)
    await visitor.heading(was)
    await visitor.fill(/^Name/, `My ${was}`)
    await api.change(path, { status: 'ACTIVE' })
    visitor.expects(`PATCH ${path} 412`)
    await visitor.press('Save', { role: 'button' })
    await visitor.heading(`My ${was}`)
    expect(await api.read(path)).toMatchObject({ displayName: `My ${was}`, status: 'ACTIVE' })
  }
})

test('a concurrent change of a wallet is shown, and the stored value can be chosen', async ({ open, app, data: { operator } }) => {
  const api = operatorOf(app, operator.token)
  const { id } = await api.create('/admin/platform-wallets', { address: address(3), from: '2026-01-05T10:00:00.000Z' })
  const visitor = await open({ as: operator, at: `net/wallets/${id}` })
  await visitor.heading('Platform wallet')
  await visitor.fill('Valid until (UTC)', '2026-03-01T00:00')
  await api.change(`/admin/platform-wallets/${id}`, { address: address(4) })
  visitor.expects(`PATCH /admin/platform-wallets/${id} 412`)
  await visitor.press('Save', { role: 'button' })
  await visitor.there(address(4), { role: 'cell' })
  await visitor.press('Show latest version', { role: 'button' })
  await visitor.until(`document.querySelector('main form input').value === '${address(4)}'`, 'the address of theirs')
  expect(await visitor.value('Valid until (UTC)')).toBe('')
  await visitor.fill('Valid until (UTC)', '2026-03-01T00:00')
  await visitor.press('Save', { role: 'button' })
  await visitor.notice('Saved')
  expect(await api.read(`/admin/platform-wallets/${id}`)).toMatchObject({ address: address(4), to: '2026-03-01T00:00:00.000Z' })
})

test('a typed note of a gift card survives orders and a concurrent change, which is shown before it is overwritten', async ({
  open,
  data: { selling },
}) => {
  const { id } = ok(await selling.post('/giftcard', { amount: usd(5_000), note: 'Before' }), 201).body
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/gift-cards/${id}` })
  await visitor.there('Note', { role: 'textbox' })
  await visitor.fill('Note', 'Mine')
  // Uses of the card do not conflict with a change of its note.
  ok(await selling.patch(`/giftcard/${id}`, { status: 'DISABLED' }))
  visitor.expects(`PATCH /giftcard/${id} 412`)
  await visitor.press('Save', { role: 'button' })
  await visitor.there('Enable', { role: 'button' })
  expect((await selling.get(`/giftcard/${id}`)).body).toMatchObject({ note: 'Mine', status: 'DISABLED' })

  await visitor.fill('Note', 'Mine again')
  ok(await selling.patch(`/giftcard/${id}`, { note: 'Theirs', status: 'ACTIVE' }))
  await selling.placeOrder({ quantity: 1 })
  // The order made the page reload the card.
  await visitor.there('Disable', { role: 'button' })
  expect(await visitor.value('Note')).toBe('Mine again')
  await visitor.press('Save', { role: 'button' })
  await keepTyped(visitor, 'Theirs', 'Mine again')
  expect((await selling.get(`/giftcard/${id}`)).body).toMatchObject({ note: 'Mine again', status: 'ACTIVE' })
})

test('an unedited note of a gift card follows another user’s change', async ({ open, data: { selling } }) => {
  const { id } = ok(await selling.post('/giftcard', { amount: usd(5_000), note: 'Before' }), 201).body
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/gift-cards/${id}` })
  await visitor.there('Note', { role: 'textbox' })
  await visitor.fill('Note', 'Before')
  ok(await selling.patch(`/giftcard/${id}`, { note: 'Theirs' }))
  await selling.placeOrder({ quantity: 1 })
  await visitor.until("document.querySelector('textarea').value === 'Theirs'", 'the note of theirs')
})

test('a removal of a staff member shows the current role, and conflicts with a concurrent change', async ({ open, app, shop }) => {
  const { id, email } = await invitePerson(app, shop, 'READ_ONLY')
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings/staff` })
  await visitor.heading('Staff')
  const change = (role: string) => app.call('PATCH', `/shops/v2/staff/${id}`, { token: shop.token, body: { role } })
  ok(await change('FULFILMENT'))
  await visitor.press(`Remove : ${email}`, { role: 'button' })
  await visitor.there(`Remove ${email}?`, { role: 'dialog' })
  await visitor.text('Role: Fulfilment')
  ok(await change('MANAGER'))
  visitor.expects(`DELETE /shops/v2/staff/${id} 412`)
  await visitor.press('Remove', { role: 'button', within: `Remove ${email}?` })
  await visitor.there('Someone else changed this', { role: 'dialog' })
  await visitor.there('Manager', { role: 'cell', within: 'Someone else changed this' })
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Show latest version', { role: 'button' })
  await visitor.until(`[...document.querySelectorAll('tr')].some(({ innerText }) => /${email}[^]*Manager/.test(innerText))`, 'the manager')
  await visitor.press(`Remove : ${email}`, { role: 'button' })
  await visitor.press('Remove', { role: 'button', within: `Remove ${email}?` })
  await visitor.there(`${email} removed`, {})
})

/** Creates an application. Returns files for it, and the actions of another user on it. */
async function createApplication(app: TestApp, token: string) {
  const { id } = ok(await app.call('POST', '/lending-application', { token, body: {} }), 201).body
  const path = `/lending-application/${id}`
  const folder = temporaryDir()
  return {
    id,
    file: async (name: string) => {
      await Bun.write(join(folder, name), pdf())
      return join(folder, name)
    },
    read: async () => ok(await app.call('GET', path, { token })).body,
    change: async (body: object) => ok(await app.call('PATCH', path, { token, body })),
    handIn: async (key: string, name: string) => {
      const headers = { 'content-type': 'application/pdf', 'content-disposition': `attachment; filename="${name}"` }
      return ok(await app.call('PUT', `${path}/documents/${key}`, { token, raw: pdf(), headers }))
    },
    names: async () =>
      ok(await app.call('GET', `${path}/documents`, { token })).body.data.map(({ originalName }: { originalName: string }) => originalName),
  }
}

test('a loan’s input survives uploads and conflicts with another person’s change', async ({ open, app, data: { borrower } }) => {
  const { id, file, read, change } = await createApplication(app, borrower.token)
  const visitor = await open({ as: borrower, at: `s/${borrower.shop.name}/lending/${id}` })
  await visitor.heading('Application')
  await visitor.text('0 of ')
  await visitor.fill('Term (months)', '24')
  await change({ requestedTermMonths: 36 })
  // The page reloads the application.
  await visitor.upload(/^File: Proof of address/, [await file('proof.pdf')], { role: 'button' })
  await visitor.text('1 of ')
  await visitor.settled()
  expect(await visitor.value('Term (months)')).toBe('24')
  visitor.expects(`PATCH /lending-application/${id} 412`)
  await visitor.press('Save', { role: 'button' })
  await keepTyped(visitor, '36', '24')
  expect(await read()).toMatchObject({ requestedTermMonths: 24 })
  // A change of documents only is no conflict with the application.
  await visitor.fill('Term (months)', '48')
  await visitor.upload(/^File: Proof of address/, [await file('other.pdf')], { role: 'button' })
  await visitor.text('other.pdf')
  await visitor.settled()
  await visitor.press('Save', { role: 'button' })
  await visitor.until(`!document.querySelector('dialog[open]') && document.body.innerText.includes('Saved')`, 'saved')
  await visitor.settled()
  expect(await read()).toMatchObject({ requestedTermMonths: 48 })
})

test('documents are uploaded concurrently, and another user’s document is neither replaced nor removed unseen', async ({
  open,
  app,
  data: { borrower },
}) => {
  const { id, file, change, handIn, names } = await createApplication(app, borrower.token)
  const key = 'proof_of_address'
  const visitor = await open({ as: borrower, at: `s/${borrower.shop.name}/lending/${id}` })
  await visitor.heading('Application')
  await visitor.text('0 of ')
  const [proof, other] = [/^File: Proof of address/, /^File: Bank statements/]
  // Own uploads in flight and other changes of the application do not conflict with a document.
  await change({ requestedTermMonths: 12 })
  await visitor.upload(proof, [await file('proof.pdf')], { role: 'button' })
  await visitor.upload(other, [await file('bank.pdf')], { role: 'button' })
  await visitor.text('2 of ')
  await visitor.settled()
  await change({ requestedTermMonths: 24 })
  await visitor.upload(proof, [await file('second.pdf')], { role: 'button' })
  await visitor.text('second.pdf')
  await visitor.settled()

  await handIn(key, 'theirs.pdf')
  await visitor.upload(proof, [await file('third.pdf')], { role: 'button' })
  await visitor.there('Someone else changed this', { role: 'dialog' })
  await visitor.there(/^theirs\.pdf, /, { role: 'cell' })
  await visitor.there('third.pdf', { role: 'cell' })
  expect(await visitor.axe()).toEqual([])
  // After closing, nothing was sent and the file is still selected.
  await visitor.key('Escape')
  await visitor.text('Someone else changed this')
  await visitor.text('theirs.pdf')
  expect(await names()).toContain('theirs.pdf')
  await visitor.press('Retry', { role: 'button' })
  await visitor.text('third.pdf')
  await visitor.settled()

  await handIn(key, 'theirs again.pdf')
  await visitor.press(/^Remove.*Proof of address/, { role: 'button' })
  await visitor.press('Remove', { role: 'button', within: 'Remove this document?' })
  await visitor.there(/^theirs again\.pdf, /, { role: 'cell' })
  await visitor.press('Show latest version', { role: 'button' })
  await visitor.text('theirs again.pdf')
  await visitor.settled()
  await visitor.press(/^Remove.*Proof of address/, { role: 'button' })
  await visitor.press('Remove', { role: 'button', within: 'Remove this document?' })
  await visitor.text('1 of ')
  expect(await names()).toEqual(['bank.pdf'])
  expect((await visitor.requests()).filter((one) => one.endsWith(' 412'))).toEqual([])

  // Another user's document is also confirmed if the page showed none.
  await handIn(key, 'first.pdf')
  await visitor.upload(proof, [await file('mine.pdf')], { role: 'button' })
  await visitor.there(/^first\.pdf, /, { role: 'cell' })
  await visitor.press('Overwrite with mine', { role: 'button' })
  await visitor.text('mine.pdf')
  await visitor.settled()
  expect((await names()).toSorted()).toEqual(['bank.pdf', 'mine.pdf'])
})

test('a proxy that weakens ETags causes no conflict, and permanent refusals show a dialog', async ({ open, data: { selling } }) => {
  const { id } = ok(await selling.post('/giftcard', { amount: usd(5_000), note: 'Before' }), 201).body
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/gift-cards/${id}` })
  await visitor.there('Note', { role: 'textbox' })
  await visitor.page.command('Page.addScriptToEvaluateOnNewDocument', { source: weakenTags })
  await visitor.reload()
  await visitor.until('!!window.between && !!document.querySelector("main textarea")', 'the card behind a proxy')
  await visitor.fill('Note', 'Mine')
  await visitor.press('Save', { role: 'button' })
  await visitor.notice('Saved')
  expect((await selling.get(`/giftcard/${id}`)).body).toMatchObject({ note: 'Mine' })
  await visitor.settled()

  await visitor.fill('Note', 'Mine again')
  await visitor.page.evaluate('window.between.refuses = true')
  await visitor.press('Save', { role: 'button' })
  await visitor.there('Someone else changed this', { role: 'dialog' })
  // Closing the dialog by keyboard keeps the text and sends nothing.
  await visitor.key('Escape')
  await visitor.until(`!document.querySelector('dialog[open]')`, 'no question')
  await visitor.settled()
  expect(await visitor.value('Note')).toBe('Mine again')
  expect((await selling.get(`/giftcard/${id}`)).body).toMatchObject({ note: 'Mine' })
  await visitor.page.evaluate('window.between.refuses = false')
  await visitor.press('Save', { role: 'button' })
  await visitor.until(`!document.querySelector('main [aria-busy=true]')`, 'sent')
  await visitor.settled()
  expect((await selling.get(`/giftcard/${id}`)).body).toMatchObject({ note: 'Mine again' })
})

/** A script for the page: weakens all ETags, as nginx does when it compresses, and refuses changes on demand. */
const weakenTags = `
  window.between = { refuses: false }
  const real = window.fetch
  window.fetch = async (request, ...rest) => {
    if (window.between.refuses && request.method === 'PATCH')
      return new Response(JSON.stringify({ error: 'PRECONDITION_FAILED', message: 'another version' }), { status: 412 })
    const answer = await real(request, ...rest)
    const etag = answer.headers.get('etag')
    if (!etag) return answer
    const headers = new Headers(answer.headers)
    headers.set('etag', 'W/' + etag)
    return new Response(answer.body, { status: answer.status, headers })
  }`

test('a bulk undo skips products that changed since', async ({ open, shop }) => {
  const [unchanged, changed] = [await shop.add({ title: 'Mine' }), await shop.add({ title: 'Theirs' })]
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products` })
  await visitor.press('Select Mine', { role: 'checkbox' })
  await visitor.press('Select Theirs', { role: 'checkbox' })
  await visitor.press('Archive', { role: 'button' })
  await visitor.there('Undo', { role: 'button' })
  ok(await shop.patch(`/product-v2/${changed.id}`, { status: 'DRAFT' }))
  visitor.expects(`PATCH /product-v2/${changed.id} 412`)
  await visitor.press('Undo', { role: 'button' })
  await visitor.text('Someone else changed this')
  const statuses = await Promise.all([unchanged, changed].map(async ({ id }) => (await shop.get(`/product-v2/${id}`)).body.status))
  expect(statuses).toEqual(['ACTIVE', 'DRAFT'])
})

/** A script for the page: the response to the next change is lost. */
const loseOneResponse = `{
  const real = globalThis.fetch
  globalThis.fetch = async (request, ...more) => {
    const answer = await real(request, ...more)
    if (request.method !== 'PATCH') return answer
    globalThis.fetch = real
    throw new TypeError('lost')
  }
}`

test('a change whose response was lost is no conflict with its retry, and a variant that another user removed blocks no save', async ({
  open,
  shop,
}) => {
  const sizes = ['S', 'M', 'L']
  const variants = sizes.map((size) => ({ optionValues: [size], price: usd(500) }))
  const { id } = await shop.add({ title: 'Glove', options: [{ name: 'Size', values: sizes }], variants })
  const read = async () => ok(await shop.get(`/product-v2/${id}`)).body
  const idOf = async (size: string) => (await read()).variants.find((one: { title: string }) => one.title === size).id
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products/${id}` })
  await visitor.heading('Glove')
  await visitor.fill('Add value: Size', 'XL')
  await visitor.press('Add', { within: 'Size' })
  await visitor.page.evaluate(loseOneResponse)
  await visitor.press('Save', { role: 'button' })
  await visitor.there('Save', { role: 'button' })
  await visitor.until(`!!document.querySelector('form [role=alert]')`, 'that nobody knows what became of it')
  await visitor.press('Save', { role: 'button' })
  await visitor.notice('Saved')
  expect((await read()).variants.map(({ title }: { title: string }) => title)).toEqual([...sizes, 'XL'])

  // The other user removes one variant that is edited here, one that is removed here too, and one without edits.
  await visitor.fill('Price (USD)', '7', { within: 'M' })
  await visitor.press('Delete variant L', { within: 'L' })
  for (const size of ['M', 'L', 'XL']) ok(await shop.delete(`/product-v2/${id}/variants/${await idOf(size)}`))
  visitor.expects(/^DELETE \/product-v2\/\S+ 404$/, `PATCH /product-v2/${id} 412`)
  await visitor.press('Save', { role: 'button' })
  await visitor.press('Delete and save')
  await visitor.press('Overwrite with mine')
  await visitor.until(`dispatchEvent(new Event('beforeunload', { cancelable: true }))`, 'all is saved')
  expect((await read()).variants.map(({ title, price }: { title: string; price: { amount: number } }) => [title, price.amount])).toEqual([
    ['S', 500],
    ['M', 700],
  ])
})

test('another person’s change of other product fields is kept without a conflict', async ({ open, app }) => {
  const selling = await sellingIn(app)
  const path = `/product-v2/${selling.productId}`
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/products/${selling.productId}` })
  await visitor.fill('Vendor', 'Loom')
  ok(await selling.patch(path, { status: 'ARCHIVED', type: 'Clothing' }))
  visitor.expects(`PATCH ${path} 412`)
  await visitor.press('Save', { role: 'button' })
  await visitor.notice('Saved')
  expect(ok(await selling.get(path)).body).toMatchObject({ vendor: 'Loom', status: 'ARCHIVED', type: 'Clothing' })
  // Only fields that both users changed are shown as conflicts.
  await visitor.fill('Vendor', 'Mine')
  ok(await selling.patch(path, { vendor: 'Theirs', type: 'Cloth' }))
  await visitor.press('Save', { role: 'button' })
  await visitor.there('Someone else changed this', { role: 'dialog' })
  expect(await visitor.page.evaluate(`[...document.querySelectorAll('.compare tbody th')].map((one) => one.innerText)`)).toEqual(['Vendor'])
})
