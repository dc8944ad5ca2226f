import { t } from 'elysia'
import { integer, oneOf } from '../../../http/schema.ts'

export const ImportCustomersQuery = t.Object({
  dryRun: t.Optional(oneOf(['true', 'false'], { description: 'Check the file, store nothing' })),
  overwrite: t.Optional(
    oneOf(['true', 'false'], {
      description: 'Change customers whose e-mail address is known to what the file says; otherwise they are skipped',
    }),
  ),
})

const notes = t.Array(t.Object({ row: integer(), column: t.Optional(t.String()), message: t.String() }))

export const ImportCustomersReport = t.Object(
  {
    dryRun: t.Boolean(),
    rows: integer({ description: 'Data rows read' }),
    created: integer(),
    updated: integer({ description: 'Known e-mail addresses, with `overwrite`: also those of which the file says nothing new' }),
    skipped: integer({ description: 'Known e-mail addresses, left alone' }),
    failed: integer({ description: 'Rows not stored, see `errors`' }),
    addresses: integer({ description: 'Addresses put into books' }),
    errors: notes,
    errorsTruncated: t.Boolean(),
    notices: { ...notes, description: 'What was not taken: columns that souk has no place for (of row 1), addresses that are not whole' },
    noticesTruncated: t.Boolean(),
  },
  { title: 'ImportCustomersReport' },
)
