/** Tests the form values of a business, a loan and mails, and the request bodies made of them. */
import { describe, expect, test } from 'bun:test'
import {
  findFileProblem,
  type Item,
  loanChange,
  missingItems,
  parseDollars,
  parseMonths,
  textsOfLoan,
  typeNames,
  typeOf,
  uploadedKeys,
} from '../../src/console/screens/lending/application.domain.ts'
import { mailBody, templateTextsBody, textsOfMail, textsOfTemplate } from '../../src/console/screens/settings-mail/mail.domain.ts'
import { kybBody, parseShare, textsOfKyb } from '../../src/console/screens/settings-verification/kyb.domain.ts'

describe('a business', () => {
  test.each([
    ['100', 1_000_000],
    ['33.3333', 333_333],
    ['0.0001', 1],
    ['12,5', 125_000],
    [' 7 ', 70_000],
    ['0', undefined],
    ['0.00001', undefined],
    ['100.0001', undefined],
    ['-1', undefined],
    ['1e2', undefined],
    ['', undefined],
    ['٥', 50_000],
  ] as const)('has a share %p of %p ten-thousandths of a percent', (text, units) => {
    expect(parseShare(text)).toBe(units)
  })

  const typed = { ...textsOfKyb(undefined, { country: 'MN', title: '' }), legalName: ' Steppe ', registrationNumber: ' 1 ' }
  const owners = (...shares: string[]) => ({ ...typed, owners: shares.map((share) => ({ name: ' O ', share })) })

  test('has the usual kind of its country by default', () => {
    expect(typed).toMatchObject({ cohort: 'MN_LLC', country: 'MN', owners: [{ name: '', share: '100' }] })
    expect(textsOfKyb(undefined, { country: 'DE', title: '' }).cohort).toBe('EU_COMPANY')
    expect(textsOfKyb(undefined, { country: 'JP', title: '' }).cohort).toBe('INTL_OTHER')
  })

  test('is submitted with trimmed texts, and shares that add up exactly', () => {
    expect(kybBody(owners('33.3333', '33.3333', '33.3334'))).toEqual({
      body: {
        ...{ cohort: 'MN_LLC', legalName: 'Steppe', registrationNumber: '1', country: 'MN' },
        owners: [33.3333, 33.3333, 33.3334].map((share) => ({ name: 'O', share })),
      },
    })
    expect(kybBody(owners('60', '40.0001'))).toEqual({ error: 'sum' })
    expect(kybBody(owners('60', 'all'))).toEqual({ error: 'share' })
  })

  test('that was rejected is submitted again unchanged', () => {
    const body = {
      cohort: 'US_COMPANY',
      legalName: 'A',
      registrationNumber: '2',
      country: 'US',
      owners: [{ name: 'B', share: 12.5 }],
    } as const
    expect(kybBody(textsOfKyb({ ...body, owners: [...body.owners] }, { country: 'MN', title: '' }))).toEqual({
      body: { ...body, owners: [...body.owners] },
    })
  })
})

describe('a loan', () => {
  test.each([
    ['', null],
    ['120000', 120_000],
    ['120,000.50', 120_000.5],
    ['1 000', 1_000],
    ['1.234', undefined],
    ['-5', undefined],
    ['abc', undefined],
    ['1,2', undefined],
  ] as const)('of %p is %p dollars', (text, dollars) => {
    expect(parseDollars(text)).toBe(dollars)
  })

  test.each([
    ['', null],
    ['1', 1],
    ['60', 60],
    ['61', undefined],
    ['0', undefined],
    ['1.5', undefined],
  ] as const)('over %p is over %p months', (text, months) => {
    expect(parseMonths(text)).toBe(months)
  })

  const application = {
    ...{ requestedAmountUsd: 5_000, requestedTermMonths: null, purposeCode: 'INVENTORY', selectedTier1Partner: null },
    selectedTier2Partner: 'Some bank',
  } as Parameters<typeof textsOfLoan>[0]

  test('sends only changed fields, and clears empty ones', () => {
    const from = textsOfLoan(application)
    expect(loanChange(from, from)).toEqual({ body: {} })
    expect(loanChange(from, { ...from, amount: '', term: '12', purpose: '', partner2: ' ' })).toEqual({
      body: { requestedAmountUsd: null, requestedTermMonths: 12, purposeCode: null, selectedTier2Partner: null },
    })
    expect(loanChange(from, { ...from, amount: 'much' })).toEqual({ error: 'amount' })
    expect(loanChange(from, { ...from, term: 'long' })).toEqual({ error: 'term' })
  })

  const item: Item = {
    key: 'owner_id',
    label: '',
    description: '',
    required: true,
    acceptedMimeTypes: ['application/pdf', 'image/jpeg'],
    maxSizeMb: 5,
  }

  test('has the documents that are marked as uploaded, whatever other fields they have', () => {
    const items = [item, { ...item, key: 'other' }, { ...item, key: 'third', required: false }]
    const uploaded = uploadedKeys({
      documentationCompleted: {
        items: [
          { key: 'owner_id', status: 'UPLOADED' },
          { key: 'other', status: 'REMOVED' },
        ],
      },
    })
    expect(missingItems(items, uploaded).map(({ key }) => key)).toEqual(['other'])
    expect(uploadedKeys({ documentationCompleted: null }).size).toBe(0)
    expect(uploadedKeys({ documentationCompleted: { anything: 1 } }).size).toBe(0)
  })

  test('accepts files by type and size, and derives a missing type from the name', () => {
    expect(typeNames(item)).toBe('PDF, JPG')
    expect(typeOf({ name: 'BOOK.CSV', type: 'application/vnd.ms-excel' })).toBe('text/csv')
    expect(typeOf({ name: 'a.jpeg', type: '' })).toBe('image/jpeg')
    expect(typeOf({ name: 'a', type: 'image/png' })).toBe('image/png')
    expect(findFileProblem({ name: 'a.pdf', type: 'application/pdf', size: 1 }, item)).toBeUndefined()
    expect(findFileProblem({ name: 'a.pdf', type: 'application/pdf', size: 5 * 1_048_576 }, item)).toBeUndefined()
    expect(findFileProblem({ name: 'a.pdf', type: 'application/pdf', size: 5 * 1_048_576 + 1 }, item)).toBe('tooLarge')
    expect(findFileProblem({ name: 'a.pdf', type: 'application/pdf', size: 0 }, item)).toBe('empty')
    expect(findFileProblem({ name: 'a.exe', type: '', size: 1 }, item)).toBe('wrongType')
  })
})

test('mail settings pass through their form unchanged, and defaults stay defaults', () => {
  const effective = { senderName: 'Shop', address: null, replyTo: null, colours: { accent: '#111111', background: '#ffffff' } }
  const figures = { sentLastHour: 0, sentLastDay: 0, delayed: 0, refusedLastDay: 0 }
  const limits = { perHour: 2_000, perDay: 20_000, ...figures, onlyStaff: false }
  const more = { effective, limits, sending: true }
  const custom = {
    ...{ senderName: 'A', replyTo: 'a@example.com', colours: { accent: '#123456', background: null }, language: 'ar' as const },
    orderMails: ['b@example.com'],
    abandonedCartMail: { enabled: true, afterHours: 5 },
  }
  expect(mailBody(textsOfMail({ ...custom, ...more }))).toEqual(custom)
  const usual = {
    ...{ senderName: null, replyTo: null, colours: { accent: null, background: null }, language: 'en' as const, orderMails: [] },
    abandonedCartMail: { enabled: false, afterHours: 10 },
  }
  expect(mailBody(textsOfMail({ ...usual, ...more }))).toEqual(usual)
})

test('default texts of a template stay defaults, and custom ones pass through the form unchanged', () => {
  const template = { template: 'new_order', language: 'en', placeholders: ['shop'], defaults: { subject: 'New', intro: 'Usual' } } as const
  const usual = { subject: null, intro: null, closing: null }
  const record = { ...template, placeholders: [...template.placeholders] }
  expect(templateTextsBody(textsOfTemplate({ ...record, ...usual }), template.defaults)).toEqual(usual)
  const custom = { subject: 'Mine', intro: 'A\n\nB ', closing: 'Bye' }
  expect(templateTextsBody(textsOfTemplate({ ...record, ...custom }), template.defaults)).toEqual(custom)
  expect(templateTextsBody({ subject: ' ', intro: '', closing: ' ' }, template.defaults)).toEqual(usual)
})
