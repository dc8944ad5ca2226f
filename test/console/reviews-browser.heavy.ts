/** Tests an operator's reviews of businesses, loans, repayments and the audit trail, in a browser. */
import { expect, setDefaultTimeout } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestApp } from '../support/app.ts'
import { consoleTests } from '../support/console-tests.ts'
import { temporaryDir } from '../support/database.ts'
import { approveBusiness, business, fileBusiness } from '../support/kyb.ts'
import { applicationPath, createSubmitted, decide } from '../support/lending.ts'
import { pdf, png } from '../support/lending-documents.ts'
import { createRepayment, lenderIn } from '../support/repayments.ts'
import { ok } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const evil = 'A\u202e "><img src=x onerror=alert(1)> <b>bold</b> '
const long = (length: number) => (evil + 'W'.repeat(length)).slice(0, length)

const { test } = consoleTests({ fill: async ({ app }) => ({ operator: await app.superAdmin() }) })

const { test: testWithoutLending } = consoleTests({ settings: { LENDING_PLATFORM_ENABLED: 'false' } })

const only = "document.querySelectorAll('.picker-options:not([hidden]) [role=option]').length === 1"

/** Creates a submitted application of a new merchant, with a picture and a document whose name is hard to display. */
async function createApplication(app: TestApp, operator: { token: string }, change: object = {}) {
  const merchant = await app.merchant()
  await approveBusiness(app, merchant, operator)
  const { id } = await createSubmitted(app, merchant, {
    requestedAmountUsd: 25_000,
    requestedTermMonths: 12,
    purposeCode: 'INVENTORY',
    ...change,
  })
  const put = async (key: string, type: string, body: Buffer, name: string) =>
    ok(
      await app.call('PUT', applicationPath(id, `/documents/${key}`), {
        token: merchant.token,
        raw: body,
        headers: { 'content-type': type, 'content-disposition': `attachment; filename="${name}"` },
      }),
    )
  await put('owner_id', 'image/png', png, 'passport.png')
  await put('lease_agreement', 'application/pdf', pdf(), `${'W'.repeat(180)}.pdf`)
  return { id, merchant, put }
}

test('a business is approved by keyboard only, after its consequences are shown', async ({ open, app, data: { operator } }) => {
  const merchant = await app.merchant()
  const { id } = await fileBusiness(app, merchant, { legalName: 'Planted Tea LLC' })
  const visitor = await open({ as: operator, at: 'net/kyb' })
  await visitor.heading('Business verification')
  await visitor.keyPress('Planted Tea LLC', { role: 'link' })
  await visitor.heading('Planted Tea LLC')
  await visitor.text('Planted Haddad')
  await visitor.text('60%')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Approve', { role: 'link' })
  await visitor.there('Approve Planted Tea LLC?', { role: 'dialog' })
  await visitor.text('This can’t be undone.')
  await visitor.keyFill('Reason', 'Papers seen')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Approve', { role: 'button' })
  await visitor.text('Planted Tea LLC approved')
  await visitor.text('Papers seen')
  expect(ok(await app.call('GET', `/admin/kyb/${id}`, { token: operator.token })).body).toMatchObject({
    status: 'APPROVED',
    reason: 'Papers seen',
  })
  expect(await visitor.all('link')).not.toContain('Approve')
  // Back skips the dialog and returns to the list, so nothing is decided twice.
  await visitor.keyPress('Business verification', { role: 'link' })
  await visitor.text('No businesses to review')
})

test('the longest waiting business comes first, with its waiting time', async ({ open, app, data: { operator } }) => {
  const names = ['First Tea LLC', 'Second Tea LLC', 'Third Tea LLC']
  for (const legalName of names) await fileBusiness(app, await app.merchant(), { legalName })
  const visitor = await open({ as: operator, at: 'net/kyb' })
  await visitor.heading('Business verification')
  await visitor.text('Oldest first')
  expect((await visitor.all('link', { within: 'Business verification' })).filter((name) => names.includes(name))).toEqual(names)
  expect(await visitor.all('columnheader')).toContain('Submitted')
  expect(await visitor.axe()).toEqual([])
  await visitor.go('net/kyb?status=all')
  await visitor.text('Third Tea LLC')
  const all = await visitor.all('link', { within: 'Business verification' })
  expect(all.filter((name) => names.includes(name))).toEqual(names.toReversed())
})

test('of two operators the second keeps the typed text, and sees a message with the first one’s decision', async ({
  open,
  app,
  data: { operator },
}) => {
  const merchant = await app.merchant()
  const legalName = long(200).trim()
  const { id } = await fileBusiness(app, merchant, {
    legalName,
    registrationNumber: long(100).trim(),
    owners: [{ name: legalName, share: 33.3333 }],
  })
  const visitor = await open({ as: operator, at: `net/kyb/${id}?do=approve`, width: 'phone', scheme: 'dark' })
  await visitor.there(/^Approve A/, { role: 'dialog' })
  await visitor.fill('Reason', 'Looks fine')
  ok(
    await app.call('POST', `/admin/kyb/${id}/decision`, {
      token: operator.token,
      body: { decision: 'REJECTED', reason: long(2_000).trim() },
    }),
  )
  await visitor.text('Someone else has already decided.')
  expect(await visitor.value('Reason')).toBe('Looks fine')
  visitor.expects(`POST /admin/kyb/${id}/decision 412`)
  await visitor.press('Approve', { role: 'button' })
  await visitor.text('your decision was not saved')
  await visitor.text('66.6667% of ownership isn’t listed')
  expect(await visitor.axe()).toEqual([])
  await visitor.go('net/kyb?status=REJECTED')
  await visitor.there(/^A/, { role: 'link', within: 'Business verification' })
  expect(await visitor.axe()).toEqual([])
})

test('an application is reviewed with its picture and decided with figures, by keyboard only', async ({
  open,
  app,
  data: { operator },
}) => {
  const { id, merchant } = await createApplication(app, operator, { selectedTier2Partner: long(200).trim() })
  const visitor = await open({ as: operator, at: 'net/lending' })
  await visitor.heading('Loan applications')
  await visitor.there('$25,000.00', { role: 'cell' })
  await visitor.keyPress(business.legalName, { role: 'link' })
  await visitor.heading('$25,000.00 for 12 months')
  // To the business, to the merchant's shops, and back.
  await visitor.keyPress(business.legalName, { role: 'link' })
  await visitor.heading(business.legalName)
  await visitor.keyPress('Merchant’s shops', { role: 'link' })
  await visitor.heading('Shops')
  await visitor.there(merchant.shop.title || merchant.shop.name, { role: 'link' })
  await visitor.back()
  await visitor.heading(business.legalName)
  await visitor.back()
  await visitor.heading('$25,000.00 for 12 months')
  await visitor.keyPress('View Owner id', { role: 'button' })
  await visitor.there('Owner id', { role: 'dialog' })
  await visitor.until("document.querySelector('dialog img.document')?.naturalWidth === 1", 'the picture')
  expect(await visitor.axe()).toEqual([])
  await visitor.key('Escape')
  const folder = join(temporaryDir(), 'taken')
  mkdirSync(folder)
  await visitor.downloadsTo(folder)
  await visitor.keyPress('Download Lease agreement', { role: 'button' })
  for (let tries = 0; tries < 600 && !readdirSync(folder).some((name) => name.endsWith('.pdf')); tries++) await Bun.sleep(50)
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/W.*\.pdf$/)])
  await visitor.keyPress('Decide', { role: 'link', back: true })
  await visitor.there('Decide', { role: 'dialog' })
  await visitor.press('Approve', { role: 'radio' })
  await visitor.text('Approval is final.')
  await visitor.keyFill('Reason', long(500).trim())
  await visitor.keyFill(/^Partner’s reference/, 'HL-77')
  await visitor.tabTo('Save the figures used for this decision')
  await visitor.key('Space')
  await visitor.keyFill(/^Monthly revenue/, 'much')
  await visitor.text('Enter an amount in USD')
  await visitor.keyFill(/^Monthly revenue/, '50000')
  await visitor.keyFill(/^Verified collateral/, '25000,50')
  await visitor.keyPress('Calculate limit')
  await visitor.text('Maximum')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Approve', { role: 'button' })
  await visitor.text('Status: Approved')
  expect(ok(await app.call('GET', `/admin/lending-application/${id}`, { token: operator.token })).body).toMatchObject({
    status: 'APPROVED',
    partnerExternalRef: 'HL-77',
    decisions: [
      { decision: 'APPROVED', assessment: { monthlyAvgRevenueUsd: 50_000, verifiedCollateralUsd: 25_000.5, operationalRisk: 'MEDIUM' } },
    ],
  })
  await visitor.settled()
  expect(await visitor.axe()).toEqual([])
})

test('a decision shows newer documents first', async ({ open, app, data: { operator } }) => {
  const { id, put } = await createApplication(app, operator)
  const visitor = await open({ as: operator, at: `net/lending/${id}?do=decide`, width: 'phone', scheme: 'dark' })
  await visitor.there('Decide', { role: 'dialog' })
  await visitor.fill('Reason', 'A guarantor is looked for')
  await put('business_plan', 'application/pdf', pdf(), 'plan.pdf')
  await visitor.text('This application changed while you were deciding.')
  visitor.expects(`POST /admin/lending-application/${id}/decision 412`)
  await visitor.press('Mark as under review', { role: 'button' })
  await visitor.there('Someone else changed this', { role: 'dialog' })
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Overwrite with mine', { role: 'button' })
  await visitor.text('Status: Under review')
  await visitor.text('Business plan')
  expect(await visitor.axe()).toEqual([])
})

test('an instalment is recorded by keyboard, and reversed with a reason', async ({ open, app, data: { operator } }) => {
  const { id: merchantId, shop } = await app.merchant()
  await lenderIn(app, operator, 'Another Bank')
  await lenderIn(app, operator, 'Harbour & <b>Sons</b>')
  const visitor = await open({ as: operator, at: 'net/repayments' })
  await visitor.heading('Repayments')
  await visitor.keyPress('Add repayment', { role: 'link' })
  await visitor.there('Add repayment', { role: 'dialog' })
  expect(await visitor.axe()).toEqual([])
  await visitor.key('Escape')
  await visitor.keyFill('Merchant', shop.name)
  await visitor.until(only, 'one merchant')
  await visitor.key('Enter')
  await visitor.keyFill('Lender', 'harbour &')
  await visitor.until(only, 'one lender')
  await visitor.key('Enter')
  await visitor.keyFill('Loan number', 'L-1')
  await visitor.fill('Due', '2026-01-31')
  await visitor.keyFill(/^Amount/, 'much')
  await visitor.press('Add repayment', { role: 'button' })
  await visitor.text('Fix the errors below.')
  await visitor.keyFill(/^Amount/, '1250,50')
  await visitor.fill('Paid on', '2026-01-30')
  await visitor.press('Add repayment', { role: 'button' })
  await visitor.text('Repayment added')
  await visitor.there('L-1', {})
  await visitor.text('$1,250.50')
  await visitor.text('Jan 31, 2026')
  await visitor.keyPress('Void L-1', { role: 'link' })
  await visitor.there('Void L-1', { role: 'dialog' })
  await visitor.type('Told twice')
  await visitor.keyPress('Void', { role: 'button' })
  await visitor.text('Told twice')
  expect(await visitor.axe()).toEqual([])
  const { data } = ok(await app.call('GET', `/admin/repayments?merchantId=${merchantId}`, { token: operator.token })).body
  expect(data).toMatchObject([{ amountUsd: 1_250.5, dueAt: '2026-01-31T00:00:00.000Z', reversal: { reason: 'Told twice' } }])
})

test('the merchant’s tier is read again after a reversal, and Cancel asks about typed text', async ({ open, app, data: { operator } }) => {
  const { id: merchantId } = await app.merchant()
  const lenderId = await lenderIn(app, operator, 'Standing Bank')
  await createRepayment(app, operator, { merchantId, lenderId, loanRef: 'S-1' })
  const visitor = await open({ as: operator, at: `net/repayments?merchantId=${merchantId}` })
  await visitor.text('Repayment record')
  await visitor.settled()
  const reads = async () => (await visitor.requests()).filter((one) => one.includes('/upgrade-eligibility/')).length
  const before = await reads()
  await visitor.press('Void S-1', { role: 'link' })
  await visitor.fill('Reason', 'Told twice', { within: 'Void S-1' })
  await visitor.press('Cancel', { role: 'button' })
  await visitor.press('Stay', { role: 'button' })
  expect(await visitor.value('Reason', { within: 'Void S-1' })).toBe('Told twice')
  await visitor.press('Void', { role: 'button', within: 'Void S-1' })
  await visitor.text('Told twice')
  await visitor.settled()
  expect(await reads()).toBe(before + 1)
})

test('an imported loan tape shows skipped rows, and importing it again changes nothing', async ({ open, app, data: { operator } }) => {
  const { id: merchantId } = await app.merchant()
  const lenderId = await lenderIn(app, operator, long(200).trim().replaceAll('\u202e', ''))
  await createRepayment(app, operator, { merchantId, lenderId, loanRef: long(100).trim().replaceAll('\u202e', ' ') })
  const tape = join(temporaryDir(), 'tape.csv')
  writeFileSync(
    tape,
    [
      'merchantId,lenderId,loanRef,outcome,amountUsd,dueAt,settledAt',
      `${merchantId},${lenderId},T-1,ON_TIME,400,2026-01-31,2026-01-31`,
      `${merchantId},${lenderId},T-2,SOMETIMES,400,2026-01-31,2026-01-31`,
      `${merchantId},${lenderId},T-3,DEFAULT,400,2026-01-31,`,
    ].join('\n'),
  )
  const visitor = await open({ as: operator, at: `net/repayments?merchantId=${merchantId}`, width: 'phone' })
  await visitor.heading('Repayments')
  await visitor.text('Repayment record')
  await visitor.press('Import repayments', { role: 'link' })
  await visitor.upload('Choose file', [tape])
  await visitor.press('Import', { role: 'button' })
  await visitor.text('2 repayments imported')
  await visitor.text('Skipped rows')
  await visitor.text('T-3')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Retry', { role: 'button' })
  await visitor.text('0 repayments imported')
})

test('the audit trail is searched by text, and shows changes by field', async ({ open, app, data: { operator } }) => {
  const { id, merchant } = await createApplication(app, operator)
  ok(await decide(app, operator, id, 'REJECTED', { reason: evil.trim() }))
  const visitor = await open({ as: operator, at: 'net/audit' })
  await visitor.heading('Audit log')
  const box = /^Search by ID, action/
  await visitor.keyFill(box, id)
  await visitor.until("location.search.includes('q=loan_')", 'the search')
  await visitor.settled()
  await visitor.keyPress('lending.rejected', { role: 'link' })
  await visitor.until("location.search.includes('action=lending.rejected')", 'the filter')
  await visitor.settled()
  await visitor.press(/field/)
  await visitor.text('REJECTED')
  expect(await visitor.axe()).toEqual([])
  await visitor.back()
  await visitor.until("!location.search.includes('action')", 'the search before')
  for (const text of ['lending.reje', operator.email]) {
    await visitor.fill(box, text)
    await visitor.until(`location.search.includes('q=${encodeURIComponent(text)}')`, 'the search')
    await visitor.settled()
    await visitor.there('lending.rejected', { role: 'link' })
  }
  // Actors are shown by e-mail address, and filtered by id.
  await visitor.press(operator.email, { role: 'link' })
  await visitor.until(`/actor=usr_/.test(location.search)`, 'the filter')
  await visitor.there('lending.rejected', { role: 'link' })
  await visitor.back()
  const folder = join(temporaryDir(), 'trail')
  mkdirSync(folder)
  await visitor.downloadsTo(folder)
  await visitor.press('Export CSV', { role: 'button' })
  for (let tries = 0; tries < 600 && !readdirSync(folder).includes('audit.csv'); tries++) await Bun.sleep(50)
  expect(readFileSync(join(folder, 'audit.csv'), 'utf8')).toContain('lending.rejected')
  await visitor.fill(box, merchant.id)
  await visitor.until(`location.search.includes('q=${merchant.id}')`, 'the search')
  await visitor.settled()
  await visitor.press(`View ${id}`, { role: 'link' })
  await visitor.heading('$25,000.00 for 12 months')
  expect((await app.call('POST', '/merchant/login', { body: { email: merchant.email, password: 'somebody else’s' } })).status).toBe(401)
  await visitor.go('net/audit?action=login.failed')
  await visitor.text(`failed login as ${merchant.email}`)
  await visitor.go('net/audit?actor=nobody')
  await visitor.text('No entries match.')
})

test('the review screens fit a phone in Arabic', async ({ open, app, data: { operator } }) => {
  const { id, merchant } = await createApplication(app, operator)
  await fileBusiness(app, await app.merchant(), { legalName: long(200).trim() })
  const visitor = await open({ as: operator, at: 'net/kyb', width: 'phone', language: 'ar' })
  const screens = [
    'net/kyb',
    'net/lending',
    `net/lending/${id}?do=decide`,
    `net/repayments?merchantId=${merchant.id}&do=tape`,
    `net/audit?actor=${merchant.id}`,
  ]
  for (const screen of screens) {
    await visitor.go(screen)
    await visitor.heading(/\p{Script=Arabic}/u)
    await visitor.settled()
    expect([screen, await visitor.axe()]).toEqual([screen, []])
  }
})

testWithoutLending('with lending disabled, the page says so and how to enable it', async ({ open, app }) => {
  const visitor = await open({ as: await app.superAdmin() })
  visitor.expects(/^GET \/admin\/lending-application\S* 404/)
  await visitor.go('net/lending')
  await visitor.text('LENDING_PLATFORM_ENABLED')
  expect(await visitor.axe()).toEqual([])
  // Repayments are shown without the merchant's tier.
  await visitor.go('net/repayments?merchantId=mer_1')
  await visitor.text('No repayments match.')
  await visitor.text('Merchant not found, or lending is off.')
})
