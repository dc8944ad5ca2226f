import { parseArgs } from 'node:util'
import { parseConfig } from '../config.ts'
import { type Command, type Input, optionsOf } from './command.ts'
import { commands } from './commands.ts'
import { explain, UsageError } from './failure.ts'
import { onAnyInterruption } from './interruption.ts'
import { nearestOf, unknownText } from './suggestion.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Runs the command of the arguments; `serve` by default. Prints failures to standard error.
 * @returns 0 on success, 1 on failure, 2 on invalid usage; undefined while the process keeps serving
 */
export async function run(argv: readonly string[], env: Environment): Promise<number | undefined> {
  process.stdout.on('error', (error) => handleOutputError(error, env))
  try {
    return await dispatch(argv, env)
  } catch (error) {
    const { text, status } = explain(error, env)
    process.stderr.write(`${text}\n`)
    return status
  }
}

/** A reader may stop early, as in `souk openapi | head`. Then nothing is left to do. */
function handleOutputError(error: Error & { code?: string; path?: string }, env: Environment): void {
  if (error.code === 'EPIPE') return
  error.path ??= 'standard output'
  const { text, status } = explain(error, env)
  process.stderr.write(`${text}\n`)
  process.exit(status)
}

async function dispatch(argv: readonly string[], env: Environment): Promise<number | undefined> {
  const [first = 'serve', ...others] = argv
  if (first === '--help' || first === '-h') return (await import('./help.ts')).help(undefined, commands, false)
  if (first === '--version' || first === '-v') return dispatch(['version'], env)
  const [name, rest] = first.startsWith('-') ? ['serve', argv] : [first, others]
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) throw new UsageError(`${unknownText('command', name, Object.keys(commands))} See \`souk help\`.`)
  const { switches, values, positionals } = parse(name, command, rest)
  if (switches.has('help')) {
    process.stdout.write((await import('./help.ts')).commandHelp(name, command))
    return 0
  }
  checkPositionals(name, command, positionals)
  // A server enables the compiler at its first request (server.ts); other commands start at once.
  if (name !== 'serve') Bun.unsafe.setJITPolicy(1)
  onAnyInterruption()
  return command.run({ config: () => parseConfig({ ...env, ...overriddenSettings(command, values) }), env, switches, values, positionals })
}

function parse(name: string, command: Command, args: readonly string[]): Omit<Input, 'config' | 'env'> {
  try {
    const { values, positionals, tokens } = parseArgs({
      args: [...args],
      options: optionsOf(command),
      allowPositionals: true,
      strict: true,
      tokens: true,
    })
    const flags = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []))
    const twice = flags.find((flag, at) => flags.indexOf(flag) < at)
    if (twice !== undefined) throw new UsageError(`--${twice} is given twice. See \`souk ${name} --help\`.`)
    const options = Object.entries(values)
    // An empty value would mean the default, so `--data-dir "$UNSET"` would use another directory.
    const empty = options.find(([, value]) => value === '')?.[0]
    if (empty !== undefined) throw new UsageError(`--${empty} needs a value. See \`souk ${name} --help\`.`)
    return {
      switches: new Set(options.filter(([, value]) => value === true).map(([flag]) => flag)),
      values: new Map(options.filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
      positionals,
    }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${flagProblem(error, command)} See \`souk ${name} --help\`.`)
  }
}

/** Names the flag but not its value, which may be a secret. */
function flagProblem(error: unknown, command: Command): string {
  const { code = '', message = '' } = error as { code?: string; message?: string }
  const flag = /'(?:-\w, )?(--?[\w-]+)/.exec(message)?.[1] ?? 'A flag'
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const nearest = nearestOf(flag.replace(/^-+/, ''), Object.keys(optionsOf(command)))
    return `Unknown flag ${flag}.${nearest === undefined ? '' : ` Did you mean --${nearest}?`}`
  }
  return /does not take an argument/.test(message) ? `${flag} takes no value.` : `${flag} needs a value.`
}

function checkPositionals(name: string, { positionals: expected = [] }: Command, positionals: readonly string[]): void {
  const missing = expected.find((word, at) => !word.startsWith('[') && !positionals[at])
  if (missing) throw new UsageError(`${missing} is missing. See \`souk ${name} --help\`.`)
  if (positionals.length > expected.length) throw new UsageError(`Too many arguments. See \`souk ${name} --help\`.`)
}

/** Returns the settings that flags override, by name. */
function overriddenSettings({ flags = {} }: Command, values: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries([...values].flatMap(([flag, value]) => (flags[flag]?.setting ? [[flags[flag].setting, value]] : [])))
}
