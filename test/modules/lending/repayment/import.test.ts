/** Tests importing a lender's loan tape: valid rows are recorded once, however often it is sent. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { auditLog } from '../../../../db/schema/people.ts'
import { importTape } from '../../../../src/modules/lending/repayment/index.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { lenderIn, previewOf, recordRepayment, reverseRepayment } from '../../../support/repayments.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const header = 'merchantId,lenderId,loanRef,outcome,amountUsd,dueAt,settledAt'
const csvOf = (...rows: string[]) => `${rows.join('\n')}\n`

async function setUp(app: TestApp) {
  const operator = await app.superAdmin()
  const merchantId = (await app.merchant()).id
  return {
    operator,
    merchantId,
    lenderId: await lenderIn(app, operator),
    send: (raw: string | Uint8Array, type = 'text/csv') =>
      app.call('POST', '/admin/repayments/import', { token: operator.token, raw, headers: { 'content-type': type } }),
  }
}

test('valid rows of a tape are recorded with their signals, invalid ones named, and a repeated tape changes nothing', async () => {
  await using app = await testApp()
  const { operator, merchantId, lenderId, send } = await setUp(app)
  ok(await recordRepayment(app, operator, { merchantId, lenderId, loanRef: 'L-0' }), 201)
  const row = (...cells: string[]) => [merchantId, lenderId, ...cells].join(',')
  const tape = csvOf(
    header,
    row('L-1', 'ON_TIME', '100.5', '2025-10-01', '2025-10-01'),
    row('L-1', 'late', '100.50', '2025-11-01', '2025-11-04T12:00:00+01:00'),
    row(' L-2 ', 'DEFAULT', '99', '2025-12-01'),
    row('L-0', 'ON_TIME', '100', '2025-12-01', '2025-12-01'),
    row('L-0', 'ON_TIME', '100.01', '2025-12-01', '2025-12-01'),
    // A repeated row of this file, and another row with the same key.
    row('L-1', 'ON_TIME', '100.50', '2025-10-01', '2025-10-01'),
    row('L-1', 'LATE', '100.50', '2025-10-01', '2025-10-01'),
    row('L-3', 'PAID', '1', '2025-10-01', '2025-10-01'),
    row('L-3', 'ON_TIME', '1.005', '2025-10-01', '2025-10-01'),
    row('L-3', 'ON_TIME', '1e3', '2025-10-01', '2025-10-01'),
    row('L-3', 'ON_TIME', '0', '2025-10-01', '2025-10-01'),
    row('L-3', 'ON_TIME', '1', '2025-02-29', '2025-10-01'),
    row('L-3', 'ON_TIME', '1', '2026-01-07', '2025-10-01'),
    row('L-3', 'ON_TIME', '1', '2025-10-01', ''),
    row('', 'ON_TIME', '1', '2025-10-01', '2025-10-01'),
    row('"L-3\u2028a"', 'ON_TIME', '1', '2025-10-01', '2025-10-01'),
    row('L-3', 'ON_TIME', '1', '2025-10-01', '2025-10-01', 'more'),
    `mer_00000000000000000000000000,${lenderId},L-4,DEFAULT,1,2025-10-01,`,
    `${merchantId},lend_00000000000000000000000000,L-4,DEFAULT,1,2025-10-01,`,
    '',
    `"${merchantId}","${lenderId}","L ""5""",ON_TIME,1,2025-10-01,2025-10-01`,
  )
  const first = await send(tape)
  expect([first.status, first.body]).toEqual([
    200,
    {
      complete: true,
      rows: 20,
      recorded: 4,
      known: 2,
      failed: 14,
      errors: [
        { row: 6, column: 'loanRef', message: expect.stringMatching(/with other values: reverse that repayment first$/) },
        { row: 8, column: 'loanRef', message: expect.stringMatching(/with other values/) },
        { row: 9, column: 'outcome', message: 'must be one of ON_TIME, LATE, DEFAULT' },
        { row: 10, column: 'amountUsd', message: 'must be dollars with at most two decimals, such as 1250.50' },
        { row: 11, column: 'amountUsd', message: 'must be dollars with at most two decimals, such as 1250.50' },
        { row: 12, column: 'amountUsd', message: 'must be more than 0' },
        { row: 13, column: 'dueAt', message: expect.stringMatching(/^must be a day/) },
        { row: 14, column: 'dueAt', message: 'must not be in the future' },
        { row: 15, column: 'settledAt', message: 'required, except for the outcome DEFAULT' },
        { row: 16, column: 'loanRef', message: 'must be 1 to 128 characters in one line' },
        { row: 17, column: 'loanRef', message: 'must be 1 to 128 characters in one line' },
        { row: 18, message: 'has more cells than the header, which has 7' },
        { row: 19, column: 'merchantId', message: 'must be a merchant of this instance' },
        { row: 20, column: 'lenderId', message: 'must be a lender of this instance' },
      ],
      errorsTruncated: false,
    },
  ])
  const { data, total } = (await app.call('GET', '/admin/repayments?limit=100', { token: operator.token })).body
  expect(total).toBe(5)
  const summaries = data.map(({ loanRef, outcome, amountUsd, dueAt, settledAt, source }: Record<string, unknown>) =>
    [loanRef, outcome, amountUsd, dueAt, settledAt, source].join(' '),
  )
  expect(summaries.sort()).toEqual([
    'L "5" ON_TIME 1 2025-10-01T00:00:00.000Z 2025-10-01T00:00:00.000Z IMPORT',
    'L-0 ON_TIME 100 2025-12-01T00:00:00.000Z 2025-12-01T00:00:00.000Z OPERATOR',
    'L-1 LATE 100.5 2025-11-01T00:00:00.000Z 2025-11-04T11:00:00.000Z IMPORT',
    'L-1 ON_TIME 100.5 2025-10-01T00:00:00.000Z 2025-10-01T00:00:00.000Z IMPORT',
    'L-2 DEFAULT 99 2025-12-01T00:00:00.000Z  IMPORT',
  ])
  const before = (await previewOf(app, merchantId)).body
  expect(before.signals).toMatchObject({ totalSettledOnTime: 3, totalLate: 1, totalDefaults: 1, lenderCount: 1 })
  expect((await send(tape)).body).toMatchObject({ rows: 20, recorded: 0, known: 6, failed: 14 })
  expect((await previewOf(app, merchantId)).body).toEqual(before)
  const audited = (await app.deps.db.read.select().from(auditLog)).filter(({ action }) => action === 'repayment.recorded')
  expect(audited).toHaveLength(5)
})

test('columns may have any order and case, and an incomplete header is refused before anything is recorded', async () => {
  await using app = await testApp()
  const { merchantId, lenderId, send } = await setUp(app)
  const reordered = csvOf(
    'settledat,DUEAT,amountUsd,Outcome,loanRef,lenderId,merchantId',
    `2025-10-01,2025-10-01,5,LATE,L-1,${lenderId},${merchantId}`,
  )
  expect((await send(reordered)).body).toMatchObject({ rows: 1, recorded: 1 })
  const refused: [file: string, message: string][] = [
    ['', 'The file is empty'],
    [csvOf('merchantId,lenderId'), 'Row 1 must also have the columns loanRef, outcome, amountUsd, dueAt, settledAt'],
    [csvOf(`${header},amountUSD`), 'Row 1 has the column amountUsd twice: remove one'],
    [csvOf(`${header},note`), 'Row 1: column 8 must be one of merchantId, lenderId, loanRef, outcome, amountUsd, dueAt, settledAt'],
    [csvOf(header, '"never closed'), 'Row 2 has a quote that is never closed.'],
    [csvOf(header, 'a\0b'), 'Row 2 contains a NUL character: remove it.'],
  ]
  for (const [file, message] of refused) {
    const { status, body } = await send(file)
    expect([file, status, body.message]).toEqual([file, 400, message])
  }
  expect((await send(csvOf(header), 'application/json')).status).toBe(415)
  expect((await send(csvOf(header))).body).toMatchObject({ rows: 0, recorded: 0 })
})

test('two concurrent imports of one tape record each row and its signals once', async () => {
  await using app = await testApp()
  const { operator, merchantId, lenderId } = await setUp(app)
  const merchants = [merchantId, ...(await Promise.all(Array.from({ length: 4 }, async () => (await app.merchant()).id)))]
  const rows = Array.from(
    { length: 300 },
    (_, nth) => `${merchants[nth % 5]},${lenderId},L-${nth},${nth % 3 ? 'ON_TIME' : 'DEFAULT'},1,2025-10-01,2025-10-02`,
  )
  async function* file(of: readonly string[]) {
    yield new TextEncoder().encode(csvOf(header, ...of))
  }
  const reports = await Promise.all([rows, rows.toReversed()].map((of) => importTape(app.deps, { actor: operator }, () => file(of))))
  expect(reports.map(({ rows, failed }) => [rows, failed])).toEqual([
    [300, 0],
    [300, 0],
  ])
  expect(reports.reduce((sum, { recorded }) => sum + recorded, 0)).toBe(300)
  const sums = await Promise.all(merchants.map(async (id) => (await previewOf(app, id)).body.signals))
  expect(sums.reduce((sum, { totalSettledOnTime, totalDefaults }) => sum + totalSettledOnTime + totalDefaults, 0)).toBe(300)
})

test('a stopped import reports that and keeps what it recorded, and a tape with too many rows is refused from there on', async () => {
  await using app = await testApp()
  const { operator, merchantId, lenderId } = await setUp(app)
  const rows = Array.from({ length: 200 }, (_, nth) => `${merchantId},${lenderId},L-${nth},ON_TIME,1,2025-10-01,2025-10-01`)
  async function* file() {
    yield new TextEncoder().encode(csvOf(header, ...rows))
  }
  const stop = new AbortController()
  const rest = async () => {
    if ((await previewOf(app, merchantId)).body.signals.totalSettledOnTime > 0) stop.abort()
  }
  const stopped = await importTape(app.deps, { actor: operator }, file, { signal: stop.signal, rest })
  expect(stopped).toMatchObject({ complete: false, rows: 64, recorded: 64 })
  const more = await importTape(app.deps, { actor: operator }, file, { rowsMax: 150 }).catch((error) => error.message)
  expect(more).toBe('The file has more than 150 rows. 64 were recorded. Split the rest into smaller files')
  expect(await importTape(app.deps, { actor: operator }, file)).toMatchObject({ complete: true, recorded: 200 - 128, known: 128 })
})

test('a file that proves invalid in its middle reports what was recorded, and its corrected version continues', async () => {
  await using app = await testApp()
  const { merchantId, lenderId, send } = await setUp(app)
  const rows = Array.from({ length: 1_000 }, (_, nth) => `${merchantId},${lenderId},L-${nth},ON_TIME,1,2025-10-01,2025-10-01`)
  const { status, body } = await send(csvOf(header, ...rows, '"never closed'))
  const recorded = (await previewOf(app, merchantId)).body.signals.totalSettledOnTime
  expect(recorded).toBeGreaterThan(0)
  const expectedMessage = `Row 1002 has a quote that is never closed. ${recorded} rows before it were recorded. Correct the file and send it again`
  expect([status, body.message]).toEqual([400, expectedMessage])
  expect((await send(csvOf(header, ...rows))).body).toMatchObject({ known: recorded, recorded: 1_000 - recorded })
})

test('a tape refuses an amount that is too large', async () => {
  await using app = await testApp()
  const operator = await app.superAdmin()
  const raw = `${header}\nmer_1,lend_1,L-1,ON_TIME,10000000000000,2025-10-01,2025-10-01\nmer_1,lend_1,L-1,ON_TIME,12345678901234567890.12,2025-10-01,2025-10-01\n`
  const { body } = await app.call('POST', '/admin/repayments/import', {
    token: operator.token,
    raw,
    headers: { 'content-type': 'text/csv' },
  })
  expect(body.errors).toEqual([2, 3].map((row) => ({ row, column: 'amountUsd', message: 'must be less than 10000000000000' })))
})

test('a tape does not record again what an operator reversed, but a request does, and changed rows are recorded', async () => {
  await using app = await testApp()
  const { operator, merchantId, lenderId, send } = await setUp(app)
  const row = (loanRef: string, outcome: string, amountUsd = 100) =>
    `${merchantId},${lenderId},${loanRef},${outcome},${amountUsd},2025-10-01,2025-10-01`
  const tape = csvOf(header, row('L-1', 'DEFAULT'), row('L-2', 'ON_TIME'), row('L-3', 'DEFAULT'))
  expect((await send(tape)).body).toMatchObject({ recorded: 3 })
  const { data } = (await app.call('GET', '/admin/repayments', { token: operator.token })).body
  const idOf = (loanRef: string) => data.find((one: { loanRef: string }) => one.loanRef === loanRef).id
  for (const loanRef of ['L-1', 'L-3']) ok(await reverseRepayment(app, operator, idOf(loanRef)))
  const before = (await previewOf(app, merchantId)).body
  expect(before.signals).toMatchObject({ totalSettledOnTime: 1, totalDefaults: 0 })
  const wasReversed = (nth: number) => ({
    row: nth,
    column: 'loanRef',
    message: 'was recorded with the same values and reversed: record it by hand if it is correct',
  })
  expect((await send(tape)).body).toMatchObject({ recorded: 0, known: 1, failed: 2, errors: [wasReversed(2), wasReversed(4)] })
  expect((await previewOf(app, merchantId)).body).toEqual(before)
  // The lender corrects the row. The old row beside it is still the reversed one.
  expect((await send(csvOf(header, row('L-1', 'LATE'), row('L-1', 'DEFAULT')))).body).toMatchObject({
    recorded: 1,
    failed: 1,
    errors: [wasReversed(3)],
  })
  const manualRepayment = {
    merchantId,
    lenderId,
    loanRef: 'L-3',
    outcome: 'DEFAULT',
    dueAt: '2025-10-01T00:00:00Z',
    settledAt: '2025-10-01T00:00:00Z',
  }
  ok(await recordRepayment(app, operator, manualRepayment), 201)
  expect((await send(tape)).body).toMatchObject({ recorded: 0, known: 2, failed: 1, errors: [wasReversed(2)] })
  expect((await previewOf(app, merchantId)).body.signals).toMatchObject({ totalSettledOnTime: 1, totalLate: 1, totalDefaults: 1 })
})
