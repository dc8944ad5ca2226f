/** The entry: the only reader of the environment and of the command line. */
import { run } from './cli/index.ts'

process.exitCode = await run(Bun.argv.slice(2), process.env)
