import type { ParseArgsConfig } from 'node:util'
import type { Config, settings } from '../config.ts'

export type Flag = {
  /** Stands for the value in the help; a flag without one is a switch. */
  value?: string
  meaning: string
  /** The setting that the flag overrides. */
  setting?: keyof typeof settings
}

export type Input = {
  /** The settings, read on demand: not every command needs any. Throws ConfigError. */
  config: () => Config
  /** What is no setting of souk's: a service manager hands over by it where it listens. */
  env: Readonly<Record<string, string | undefined>>
  switches: ReadonlySet<string>
  values: ReadonlyMap<string, string>
  positionals: readonly string[]
}

export type Command = {
  summary: string
  /** Names of the arguments in the help; all but those in brackets are required. */
  positionals?: readonly string[]
  flags?: Readonly<Record<string, Flag>>
  /** More than the summary says. */
  details?: string
  /** Resolves to the exit status; undefined leaves the process running. */
  run: (input: Input) => Promise<number | undefined>
}

/** What parseArgs is to accept for a command. */
export const optionsOf = ({ flags = {} }: Command): NonNullable<ParseArgsConfig['options']> => ({
  ...Object.fromEntries(
    Object.entries(flags).map(([name, { value }]) => [name, { type: value === undefined ? 'boolean' : 'string' }] as const),
  ),
  help: { type: 'boolean', short: 'h' },
})
