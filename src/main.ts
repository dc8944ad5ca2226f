/** The entry: the only reader of the environment and of the command line. */
import { run } from './cli/index.ts'

// What we write is for our own user: the database, the keys, the backups.
process.umask(0o077)

process.exitCode = await run(Bun.argv.slice(2), process.env)
