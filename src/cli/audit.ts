import { csvLine } from '../lib/csv-line.ts'
import { type AuditView, auditColumns } from '../modules/operations/audit/domain.ts'
import { exportAudit } from '../modules/operations/audit/index.ts'
import type { Input } from './command.ts'
import { dayOptions, UsageError } from './failure.ts'
import { withExistingInstance } from './instance-command.ts'
import { onInterruption } from './interruption.ts'
import { createPrinter } from './printer.ts'
import { unknownText } from './suggestion.ts'

const formats: Readonly<Record<string, { head: string; line: (row: AuditView) => string }>> = {
  jsonl: { head: '', line: (row) => `${JSON.stringify(row)}\n` },
  csv: {
    head: csvLine(auditColumns),
    line: (row) =>
      csvLine(
        auditColumns.map((name) => {
          const value = row[name]
          return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
        }),
      ),
  },
}

/** `souk audit export`: writes the audit trail to standard output in batches, oldest first. */
export async function audit({ config: settings, positionals: [what], values }: Input): Promise<number> {
  if (what !== 'export') throw new UsageError(`${unknownText('argument', what ?? '', ['export'])} Use \`souk audit export\`.`)
  const format = formats[values.get('format') ?? 'jsonl']
  if (!format) throw new UsageError('--format must be jsonl or csv')
  const days = dayOptions(values)
  const config = settings()
  const print = createPrinter(process.stdout)
  return withExistingInstance(config, async ({ deps }) => {
    const interruption = onInterruption(() => 'Stopped. The output is incomplete. Run it again')
    await print(format.head)
    for await (const rows of exportAudit(deps, days)) if (!(await print(rows.map(format.line).join('')))) break
    interruption.end()
    return 0
  })
}
