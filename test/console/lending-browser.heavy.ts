/** Tests a loan application from creation to decision, in a browser. */
import { expect, setDefaultTimeout } from 'bun:test'
import { join } from 'node:path'
import { consoleTests } from '../support/console-tests.ts'
import { temporaryDir } from '../support/database.ts'
import { approveBusiness } from '../support/kyb.ts'
import { createCompleteDraft, decide } from '../support/lending.ts'
import { pdf } from '../support/lending-documents.ts'
import { ok } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const evil = 'A‮ "><img src=x onerror=alert(1)> <b>bold</b> '

const { test } = consoleTests({
  settings: { LENDING_PLATFORM_ENABLED: 'true' },
  fill: async ({ app }) => {
    const [borrower, operator] = [await app.merchant(), await app.superAdmin()]
    await approveBusiness(app, borrower, operator)
    return { borrower, operator, at: `s/${borrower.shop.name}/lending` }
  },
})

test('a merchant without KYB is directed to the verification', async ({ open, shop }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/lending` })
  visitor.expects('GET /kyb 404')
  visitor.expects('POST /lending-application 403')
  await visitor.heading('Lending')
  await visitor.keyPress('Start application', { role: 'button' })
  await visitor.text('Something went wrong')
  await visitor.there('Verify business', { role: 'link' })
})

test('an application is created by keyboard, and shows what is missing', async ({ open, app, data: { borrower, at } }) => {
  const visitor = await open({ as: borrower, at })
  await visitor.heading('Lending')
  await visitor.text('Repayment record')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Start application', { role: 'button' })
  await visitor.heading('Application')
  await visitor.keyFill('Amount (USD)', 'a lot')
  await visitor.keyPress('Save', { role: 'button' })
  await visitor.text('Enter an amount in USD')
  await visitor.keyFill('Amount (USD)', '25,000.50')
  await visitor.keyFill('Term (months)', '12')
  await visitor.fill('Lender', 'Harbor Inventory')
  await visitor.press('Save', { role: 'button' })
  await visitor.there('Saved', {})
  await visitor.text('Stock count report')
  expect(await visitor.axe()).toEqual([])
  await visitor.fill('Term (months)', '24')
  await visitor.keyPress('Submit application', { role: 'button' })
  await visitor.there(/Save your changes first/, {})
  await visitor.fill('Term (months)', '12')
  // An incomplete application is not confirmed, and the previous message is gone.
  await visitor.keyPress('Submit application', { role: 'button' })
  await visitor.there(/Upload the missing documents first/, {})
  expect(await visitor.has('Save your changes first')).toBe(false)
  expect(await visitor.all('dialog')).toEqual([])
  const { data } = (await app.call('GET', '/lending-application', { token: borrower.token })).body
  expect(data[0]).toMatchObject({
    ...{ status: 'DRAFT', requestedAmountUsd: 25_000.5, requestedTermMonths: 12, selectedTier1Partner: 'HARBOR_INVENTORY' },
  })
  await visitor.back()
  await visitor.heading('Lending')
})

test('documents are uploaded, refused, removed and downloaded on a phone', async ({ open, app, data: { borrower, at } }) => {
  const { id } = ok(await app.call('POST', '/lending-application', { token: borrower.token, body: {} }), 201).body
  const folder = await temporaryDir()
  const file = async (name: string, content: Buffer) => {
    await Bun.write(join(folder, name), content)
    return join(folder, name)
  }
  const visitor = await open({ as: borrower, at: `${at}/${id}`, width: 'phone', scheme: 'dark' })
  await visitor.heading('Application')
  await visitor.text('0 of ')
  const label = /^File: Proof of address/
  await visitor.upload(label, [await file('program.exe', pdf())], { role: 'button' })
  await visitor.text('File type must be one of: PDF, JPG, PNG')
  await visitor.upload(label, [await file('empty.pdf', Buffer.alloc(0))], { role: 'button' })
  await visitor.text('The file is empty.')
  await visitor.upload(label, [await file('large.pdf', pdf(10 * 1_048_576 + 1))], { role: 'button' })
  await visitor.text('File is larger than 10 MB')
  visitor.expects(/PUT \/lending-application\/\S+ 415/)
  await visitor.upload(label, [await file('lie.pdf', Buffer.from('not at all'))], { role: 'button' })
  await visitor.text('Something went wrong')
  await visitor.upload(label, [await file('Хаяг «1».pdf', pdf(2_000_000))], { role: 'button' })
  await visitor.there('Proof of address uploaded', {})
  await visitor.text('Хаяг «1».pdf')
  await visitor.text('1 of ')
  // The message shows the stored state, not the sent one.
  await visitor.go(`${at}/${id}`)
  await visitor.text('Хаяг «1».pdf, 2 MB, ')
  expect(await visitor.axe()).toEqual([])
  const downloads = await temporaryDir()
  await visitor.downloadsTo(downloads)
  await visitor.press(/^Download.*Proof of address/, { role: 'button' })
  await visitor.settled()
  await visitor.press(/^Remove.*Proof of address/, { role: 'button' })
  await visitor.press('Remove', { role: 'button', within: 'Remove this document?' })
  await visitor.text('0 of ')
})

test('a complete application is submitted and decided; another is withdrawn', async ({ open, app, data }) => {
  const { borrower, operator, at } = data
  const { id } = await createCompleteDraft(app, borrower)
  const visitor = await open({ as: borrower, at: `${at}/${id}` })
  await visitor.heading('Application')
  await visitor.keyPress('Submit application', { role: 'button' })
  await visitor.there('Submit application?', { role: 'dialog' })
  await visitor.keyPress('Submit application', { role: 'button' })
  await visitor.there('Application submitted', {})
  ok(await decide(app, operator, id, 'REJECTED', { reason: `${evil}too young` }))
  await visitor.text('too young')
  await visitor.text('Rejected')
  expect(await visitor.axe()).toEqual([])
  const other = await createCompleteDraft(app, borrower)
  await visitor.go(`${at}/${other.id}`)
  await visitor.heading('Application')
  await visitor.keyPress('Withdraw', { role: 'button' })
  await visitor.there('Withdraw application?', { role: 'dialog' })
  await visitor.keyFill('Reason', evil)
  await visitor.keyPress('Withdraw', { role: 'button' })
  await visitor.there('Application withdrawn', {})
  expect((await app.call('GET', `/lending-application/${other.id}`, { token: borrower.token })).body).toMatchObject({
    ...{ status: 'WITHDRAWN', reason: evil.trim() },
  })
})

test('two editors of an application see the conflict', async ({ open, app, data: { borrower, at } }) => {
  const { id } = await createCompleteDraft(app, borrower)
  const visitor = await open({ as: borrower, at: `${at}/${id}` })
  await visitor.heading('Application')
  await visitor.fill('Term (months)', '24')
  ok(await app.call('PATCH', `/lending-application/${id}`, { token: borrower.token, body: { requestedTermMonths: 36 } }))
  visitor.expects(/PATCH \/lending-application\/\S+ 412/)
  await visitor.press('Save', { role: 'button' })
  await visitor.there('Someone else changed this', { role: 'dialog' })
  await visitor.text('36')
  await visitor.press('Overwrite with mine', { role: 'button' })
  await visitor.there('Saved', {})
  expect((await app.call('GET', `/lending-application/${id}`, { token: borrower.token })).body.requestedTermMonths).toBe(24)
})

test('withdrawing an application that was changed in the meantime shows the change, and then withdraws it', async ({
  open,
  app,
  data: { borrower, at },
}) => {
  const { id } = await createCompleteDraft(app, borrower)
  const visitor = await open({ as: borrower, at: `${at}/${id}` })
  await visitor.heading('Application')
  await visitor.press('Withdraw', { role: 'button' })
  ok(await app.call('PATCH', `/lending-application/${id}`, { token: borrower.token, body: { requestedTermMonths: 36 } }))
  visitor.expects(/POST \/lending-application\/\S+\/withdraw 412/)
  await visitor.press('Withdraw', { role: 'button', within: 'Withdraw application?' })
  await visitor.text('Someone else changed this')
  await visitor.until(`[...document.querySelectorAll('input')].some(({ value }) => value === '36')`, 'the stored value')
  await visitor.press('Withdraw', { role: 'button', within: 'Withdraw application?' })
  await visitor.there('Application withdrawn', {})
  expect((await app.call('GET', `/lending-application/${id}`, { token: borrower.token })).body.status).toBe('WITHDRAWN')
})
