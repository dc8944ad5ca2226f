import { AppError } from '../../../core/errors.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { importMaxMs, runImport } from '../../../http/import-request.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, RecordId } from '../../../http/schema.ts'
import { uploads } from '../../../http/upload.ts'
import { parseInstant } from '../../../lib/instant.ts'
import { sliceOf } from '../../../lib/page.ts'
import { centsOf } from '../../../lib/usd.ts'
import { importTape, listRepayments, type RepaymentDeps, recordRepayment, reverseRepayment, tapeStoppedError } from './index.ts'
import { ListRepayments, RecordRepayment, RepaymentRecord, Repayments, ReverseRepayment, TapeReport } from './model.ts'

export const repaymentRoutes = (deps: HttpDeps & RepaymentDeps) =>
  routes(deps, 'Credit')
    .use(uploads(deps))
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
          summary: 'Record what became of an instalment',
          description:
            'What the ladder of credit tiers is judged by. Nothing of it can be changed, only reversed. 409 while another one of that lender, loan and due date counts; 400 for dates after now and for a merchant or a lender that is not there.',
        },
      },
    )
    .get('/admin/repayments', ({ query: { page, limit, ...filter } }) => listRepayments(deps, filter, sliceOf({ page, limit })), {
      access: 'superAdmin',
      query: ListRepayments,
      response: { 200: Repayments, ...errorResponses(401, 403) },
      detail: { summary: 'Repayments', description: 'Newest first; those that were reversed stay, with what undid them.' },
    })
    .post(
      '/admin/repayments/:id/reverse',
      ({ params, body, actor, once }) =>
        once(200, (write) => reverseRepayment(deps, { actor, write }, params.id, body.reason), {
          // An operator may read every repayment.
          sees: () => Promise.resolve(),
        }),
      {
        access: 'superAdmin',
        idempotent: true,
        params: RecordId,
        body: ReverseRepayment,
        response: { 200: RepaymentRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Reverse a repayment',
          description:
            'By an entry of its own: the repayment stays, counts no more, and its lender, loan and due date may be recorded anew. Once: 409 after that.',
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
          summary: "Import a lender's loan tape",
          description: `The body is a CSV (\`text/csv\`, UTF-8, at most 20 MB and ${rowsMax} rows) with the columns \`merchantId,lenderId,loanRef,outcome,amountUsd,dueAt,settledAt\` in any order. Dates are days (their beginning, UTC) or times with a zone; \`settledAt\` may be blank for a \`DEFAULT\`. A bad row is left out and named, and the others are recorded. A row that is recorded already and says the same is \`known\`, so sending a file again changes nothing; one that says something else is an error of that row, and so is one that says what was reversed: tapes are cumulative, and only \`POST /admin/repayments\` records that again.

One import at a time: 429 meanwhile. It stops when its client leaves, and after ${importMaxMs / 1_000} seconds with 503: what was recorded by then stays, and sending the file again goes on.`,
        },
      },
    )

const rowsMax = 100_000

function amountIn(usd: number): number {
  const cents = centsOf(usd)
  if (cents === undefined) throw new AppError('INVALID', 'amountUsd (body): at most two decimals')
  return cents
}

function instantIn(field: 'dueAt' | 'settledAt', text: string): number {
  const ms = parseInstant(text)
  if (Number.isNaN(ms)) throw new AppError('INVALID', `${field} (body): no such time`)
  return ms
}
