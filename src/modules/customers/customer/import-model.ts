import { t } from 'elysia'
import { integer, oneOf } from '../../../http/schema.ts'

export const ImportCustomersQuery = t.Object({
  dryRun: t.Optional(oneOf(['true', 'false'], { description: 'Checks the file and stores nothing' })),
  overwrite: t.Optional(
    oneOf(['true', 'false'], {
      description: 'Updates customers whose e-mail address exists. Otherwise they are skipped',
    }),
  ),
})

const notes = t.Array(t.Object({ row: integer(), column: t.Optional(t.String()), message: t.String() }))

export const ImportCustomersReport = t.Object(
  {
    dryRun: t.Boolean(),
    rows: integer({ description: 'Number of data rows that were read' }),
    created: integer(),
    updated: integer({ description: 'Number of existing customers updated with `overwrite`, including those without changes' }),
    skipped: integer({ description: 'Number of existing customers that were skipped' }),
    failed: integer({ description: 'Number of rows that were not stored. See `errors`' }),
    addresses: integer({ description: 'Number of addresses added to address books' }),
    errors: notes,
    errorsTruncated: t.Boolean(),
    notices: { ...notes, description: 'What was not imported: columns that souk does not support (row 1), and incomplete addresses' },
    noticesTruncated: t.Boolean(),
  },
  { title: 'ImportCustomersReport' },
)
