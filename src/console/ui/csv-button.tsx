import { pathWith } from '../lib/api/api.ts'
import { download } from '../lib/api/download.ts'
import { common } from '../lib/i18n/common.ts'
import { Button } from './button.tsx'

/** Downloads a list as CSV. */
export const CsvButton = ({ path, query, name }: { path: string; query?: Parameters<typeof pathWith>[1]; name: string }) => (
  <Button icon="download" onPress={() => download(pathWith(path, query), `${name}.csv`, 'text/csv')} text={common('download')} />
)
