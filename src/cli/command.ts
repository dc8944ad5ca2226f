import type { ParseArgsConfig } from 'node:util'
import type { Config, settings } from '../config.ts'

export type Flag = {
  /** The value's placeholder in the help; a flag without one is a switch. */
  value?: string
  meaning: string
  /** The setting that the flag overrides. */
  setting?: keyof typeof settings
}

export type Input = {
  /**
   * Reads the settings on demand.
   * @throws ConfigError
   */
  config: () => Config
  /** The environment beyond settings: a service manager passes sockets and its address there. */
  env: Readonly<Record<string, string | undefined>>
  switches: ReadonlySet<string>
  values: ReadonlyMap<string, string>
  positionals: readonly string[]
}

export type Command = {
  summary: string
  /** Names of the arguments in the help; required unless in brackets. */
  positionals?: readonly string[]
  flags?: Readonly<Record<string, Flag>>
  /** Help text beyond the summary. */
  details?: string
  /** Resolves to the exit status; undefined if the process keeps running. */
  run: (input: Input) => Promise<number | undefined>
}

/** Returns the options of parseArgs for a command. */
export const optionsOf = ({ flags = {} }: Command): NonNullable<ParseArgsConfig['options']> => ({
  ...Object.fromEntries(
    Object.entries(flags).map(([name, { value }]) => [name, { type: value === undefined ? 'boolean' : 'string' }] as const),
  ),
  help: { type: 'boolean', short: 'h' },
})
