import { DatabaseRefused } from '../../db/migrate.ts'
import { ConfigError, parseConfig } from '../config.ts'
import { flushLog } from '../instance.ts'
import { serve } from './serve.ts'

export async function run(argv: readonly string[], env: Record<string, string | undefined>): Promise<number | undefined> {
  try {
    await serve(parseConfig(env))
    return undefined
  } catch (error) {
    flushLog()
    process.stderr.write(`${error instanceof ConfigError || error instanceof DatabaseRefused || error instanceof Error ? error.message : String(error)}\n`)
    return 1
  }
}
