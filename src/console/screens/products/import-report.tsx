import type { ComponentChildren } from 'preact'
import { csvLine } from '../../../lib/csv-line.ts'
import type { Schema } from '../../lib/api.ts'
import { save } from '../../lib/download.ts'
import { number } from '../../lib/format.ts'
import { Facts, Figure, Note } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Section } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { w } from './words.ts'

type Result = Schema<'ImportReport'>
const counts = ['created', 'updated', 'skipped', 'failed'] as const
const shownMax = 200

/** What came of an import, or what would, with each row that was refused. */
export function Report({ of, actions }: { of: Result; actions: ComponentChildren }) {
  const { dryRun, errors, errorsTruncated, stock } = of
  const facts: (readonly [string, string])[] = [
    [w('rows'), number(of.rows)],
    [w('products'), number(of.products)],
    [w('variantsCount'), number(of.variants)],
    [w('picturesCount'), number(of.images)],
  ]
  if (of.variantsKept > 0) facts.push([w('variantsKept'), number(of.variantsKept)])
  if (stock.set) facts.push([w('stockCounts'), number(stock.counts)])
  else if (stock.leftAlone > 0) facts.push([w('stockLeft'), number(stock.leftAlone)])
  return (
    <Section title={dryRun ? w('wouldBe') : w('cameOf')} actions={actions}>
      {dryRun && <Note>{w('nothingStored')}</Note>}
      <div class="grid">
        {counts.map((name) => (
          <Figure key={name} name={w(`count.${name}`)} value={number(of[name])} />
        ))}
      </div>
      <Facts of={facts} />
      {errors.length === 0 ? (
        <p>{w('noErrors')}</p>
      ) : (
        <>
          <div class="row">
            <h3>{w('errors', { n: errors.length })}</h3>
            <Button icon="download" onPress={() => save(errorFile(errors), 'import-errors.csv')}>
              {w('errorsDownload')}
            </Button>
          </div>
          {(errorsTruncated || errors.length > shownMax) && <Note tone="warn">{w('errorsTruncated')}</Note>}
          <Table
            caption={w('message')}
            rows={errors.slice(0, shownMax)}
            rowKey={(error) => errors.indexOf(error)}
            columns={[
              { key: 'row', title: w('row'), main: true, cell: ({ row }) => number(row) },
              { key: 'column', title: w('column'), cell: ({ column }) => column !== undefined && <bdi>{column}</bdi> },
              { key: 'message', title: w('message'), cell: ({ message }) => <bdi>{message}</bdi> },
            ]}
          />
        </>
      )}
    </Section>
  )
}

/** For a spreadsheet, which knows by its mark that it is UTF-8. */
const errorFile = (errors: Result['errors']): Blob =>
  new Blob(
    ['\uFEFF', csvLine(['row', 'column', 'message']), ...errors.map(({ row, column, message }) => csvLine([row, column ?? null, message]))],
    {
      type: 'text/csv',
    },
  )
