import { invalidField } from '../../../core/errors.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { importMaxMs, runImport } from '../../../http/import-request.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, RecordId } from '../../../http/schema.ts'
import { parseInstant } from '../../../lib/instant.ts'
import { sliceOf } from '../../../lib/page.ts'
import { centsOf } from '../../../lib/usd.ts'
import { importTape, listRepayments, type RepaymentDeps, recordRepayment, reverseRepayment, tapeStoppedError } from './index.ts'
import { ListRepayments, RecordRepayment, RepaymentRecord, Repayments, ReverseRepayment, TapeReport } from './model.ts'

export const repaymentRoutes = (deps: HttpDeps & RepaymentDeps) =>
  routes(deps, 'Credit')
    .post(
      '/admin/repayments',
      ({ body: { amountUsd, dueAt, settledAt, ...draft }, actor, once }) => {
        const times = { dueAt: instantIn('dueAt', dueAt), settledAt: settledAt ? instantIn('settledAt', settledAt) : null }
        const repayment = { ...draft, amountUsd: amountIn(amountUsd), ...times }
        return once(201, (write) => recordRepayment(deps, { actor, write }, repayment))
      },
      {
        access: 'superAdmin',
        idempotent: true,
        exactNumbers: true,
        body: RecordRepayment,
        response: { 201: RepaymentRecord, ...errorResponses(401, 403, 409, 413, 415, 422) },
        detail: {
          operationId: 'createRepayment',
          summary: 'Records a repayment',
          description:
            'Credit tiers depend on repayments. A repayment cannot be changed, only reversed. The response is 409 if there is one for the lender, loan and due date, and 400 for future dates and an unknown merchant or lender.',
        },
      },
    )
    .get('/admin/repayments', ({ query: { page, limit, ...filter } }) => listRepayments(deps, filter, sliceOf({ page, limit })), {
      access: 'superAdmin',
      query: ListRepayments,
      response: { 200: Repayments, ...errorResponses(401, 403) },
      detail: {
        operationId: 'listRepayments',
        summary: 'Lists repayments',
        description: 'Returns repayments, newest first, including reversed ones with their reversals.',
      },
    })
    .post(
      '/admin/repayments/:id/reverse',
      ({ params, body, actor, once }) =>
        once(200, (write) => reverseRepayment(deps, { actor, write }, params.id, body.reason), {
          // An operator may read every repayment.
          assertVisible: () => Promise.resolve(),
        }),
      {
        access: 'superAdmin',
        idempotent: true,
        params: RecordId,
        body: ReverseRepayment,
        response: { 200: RepaymentRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'reverseRepayment',
          summary: 'Reverses a repayment',
          description:
            'Adds a reversal. The repayment remains but no longer counts, and the lender, loan and due date can be recorded again. A second reversal is 409.',
        },
      },
    )
    .post(
      '/admin/repayments/import',
      ({ actor, upload, request }) =>
        runImport(deps, { slot: ['repayments', 'of repayments'], request, upload }, async ({ file, signal, rest }) => {
          const report = await importTape(deps, { actor }, file, { signal, rowsMax, rest })
          if (!report.complete) throw tapeStoppedError(report)
          return report
        }),
      {
        access: 'superAdmin',
        upload: { types: ['text/csv'], bytesMax: 20 * 1024 * 1024 },
        response: { 200: TapeReport, ...errorResponses(401, 403, 413, 415, 429) },
        detail: {
          operationId: 'importRepayments',
          summary: 'Imports repayments from a loan tape',
          description: `The request body is a CSV file (\`text/csv\`, UTF-8, at most 20 MB and ${rowsMax} rows) with the columns \`merchantId,lenderId,loanRef,outcome,amountUsd,dueAt,settledAt\` in any order. Dates are days (from 00:00 UTC) or times with a zone. \`settledAt\` is optional for a \`DEFAULT\`. Invalid rows are skipped and reported; the others are recorded. A row that was recorded before counts as \`known\`, so importing a file twice changes nothing. A row with other values than the recorded ones is an error, and so is one that was reversed: tapes are cumulative, so use \`POST /admin/repayments\` to record it again.

One import can run at a time; otherwise the response is 429. An import stops when the client disconnects, or after ${importMaxMs / 1_000} seconds with 503. Recorded rows remain; send the file again to continue.`,
        },
      },
    )

const rowsMax = 100_000

function amountIn(usd: number): number {
  const cents = centsOf(usd)
  if (cents === undefined) throw invalidField('amountUsd', 'must have at most two decimals')
  return cents
}

function instantIn(field: 'dueAt' | 'settledAt', text: string): number {
  const ms = parseInstant(text)
  if (Number.isNaN(ms)) throw invalidField(field, 'must be a valid time')
  return ms
}
