/** Formats the settings of src/config.ts for `souk help settings` and docs/settings.md. */
import { settings } from '../config.ts'

type Row = { name: string; type: string; default: string; meaning: string }

const rows = (): Row[] =>
  Object.entries(settings).map(([name, { type, default: fallback, meaning, ...more }]) => ({
    name,
    type: 'secret' in more ? `${type}, secret` : type,
    default: fallback ?? '',
    meaning,
  }))

/** Returns a plain table for a terminal: name, type, default, meaning. */
export function settingsText(): string {
  const head: Row = { name: 'SETTING', type: 'TYPE', default: 'DEFAULT', meaning: 'MEANING' }
  const all = [head, ...rows()]
  const widthOf = (column: keyof Row) => Math.max(...all.map((row) => row[column].length))
  const [name, type, fallback] = [widthOf('name'), widthOf('type'), widthOf('default')]
  const lines = all.map((row) => `${row.name.padEnd(name)}  ${row.type.padEnd(type)}  ${row.default.padEnd(fallback)}  ${row.meaning}`)
  return `Each setting is an environment variable. An empty one counts as unset.\n\n${lines.join('\n')}\n`
}

/** Returns the same as a Markdown table, for docs/settings.md. */
export function settingsMarkdown(): string {
  const code = (text: string) => (text === '' ? '' : `\`${text}\``)
  const cell = (text: string) => text.replaceAll('|', '\\|')
  const lines = rows().map((row) => `| ${code(row.name)} | ${row.type} | ${code(row.default)} | ${cell(row.meaning)} |`)
  return ['| Setting | Type | Default | Meaning |', '|---|---|---|---|', ...lines, ''].join('\n')
}
