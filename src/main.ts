/** The entry: the only reader of the environment and of the command line. */
import { run } from './cli/index.ts'

// What we write is for our own user: the database, the keys, the backups.
process.umask(0o077)

const endsWithinMs = 2_000

const status = await run(Bun.argv.slice(2), process.env)
process.exitCode = status
// What a command was given up on (a bucket that does not answer) may still be open, and keep the process: not once all is printed.
if (status !== undefined) process.stdout.write('', () => void setTimeout(() => process.exit(status), endsWithinMs).unref())
