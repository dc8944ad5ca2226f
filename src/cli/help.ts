import type { Command } from './command.ts'
import { UsageError } from './failure.ts'
import { settingsText } from './settings-table.ts'
import { unknownText } from './suggestion.ts'

type Commands = Readonly<Record<string, Command>>

/** `souk help`, `souk help COMMAND`, `souk help settings`. */
export function help(topic: string | undefined, commands: Commands, hasMore: boolean): number {
  if (hasMore) throw new UsageError('Too many arguments. See `souk help --help`.')
  process.stdout.write(textOn(topic, commands))
  return 0
}

function textOn(topic: string | undefined, commands: Commands): string {
  if (topic === undefined) return overview(commands)
  if (topic === 'settings') return settingsText()
  const command = Object.hasOwn(commands, topic) ? commands[topic] : undefined
  if (!command) throw new UsageError(`${unknownText('command', topic, [...Object.keys(commands), 'settings', 'guard'])} See \`souk help\`.`)
  return commandHelp(topic, command)
}

/** Lists all commands, one per line. */
function overview(commands: Commands): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length))
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)
  return `souk: a commerce backend in one program and one file\n\nUsage: souk [COMMAND] [FLAGS]\n\nCommands:\n${lines.join('\n')}\n
\`souk COMMAND --help\` shows help for a command, \`souk help settings\` all settings.\n`
}

/** Describes a command with its arguments and flags. */
export function commandHelp(name: string, { summary, positionals = [], flags = {}, details }: Command): string {
  const rows = [
    ...Object.entries(flags).map(([flag, { value, meaning }]) => [value ? `--${flag} ${value}` : `--${flag}`, meaning] as const),
    ['--help', 'Show this help'] as const,
  ]
  const width = Math.max(...rows.map(([flag]) => flag.length))
  const usage = ['souk', name, ...positionals, '[FLAGS]'].join(' ')
  return `${summary}\n\nUsage: ${usage}\n\nFlags:\n${rows.map(([flag, meaning]) => `  ${flag.padEnd(width)}  ${meaning}`).join('\n')}\n${details ? `\n${details}\n` : ''}`
}
