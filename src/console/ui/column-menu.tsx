import { common } from '../lib/i18n/common.ts'
import type { Query } from '../lib/navigation/query.ts'
import type { Column } from './table.tsx'

/** Parameter of the URL with the names of the hidden columns. */
const parameter = 'hide'
const hiddenNames = ({ values }: Query): readonly string[] => values[parameter]?.split(',') ?? []

/** Returns the columns that are not hidden; those without a name always are shown. */
export const shownColumns = <Row,>(columns: readonly Column<Row>[], query: Query): readonly Column<Row>[] =>
  columns.filter(({ name }) => name === undefined || !hiddenNames(query).includes(name))

/** Hides and shows the named columns of a list. */
export function ColumnMenu<Row>({ columns, query }: { columns: readonly Column<Row>[]; query: Query }) {
  const hidden = hiddenNames(query)
  const hideableColumns = columns.flatMap(({ name, title }) => (name === undefined ? [] : [{ name, title }]))
  if (hideableColumns.length === 0) return null
  return (
    <details class="column-menu">
      <summary>{common('columns')}</summary>
      <div class="choices">
        {hideableColumns.map(({ name, title }) => (
          <label key={name} class="check">
            <input
              type="checkbox"
              checked={!hidden.includes(name)}
              onChange={({ currentTarget: { checked } }) => {
                const next = checked ? hidden.filter((hiddenName) => hiddenName !== name) : [...hidden, name]
                query.set({ [parameter]: next.join(','), page: query.values['page'] }, { replace: true })
              }}
            />
            <span>{title}</span>
          </label>
        ))}
      </div>
    </details>
  )
}
