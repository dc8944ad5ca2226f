/** The entry point: the only reader of the environment and the command line. */
import { run } from './cli/index.ts'

// Files that we create are private: database, keys, backups.
process.umask(0o077)

const endsWithinMs = 2_000

const status = await run(Bun.argv.slice(2), process.env)
process.exitCode = status
// Abandoned work, such as a request to an unresponsive bucket, must not keep the process alive after the output.
if (status !== undefined) process.stdout.write('', () => void setTimeout(() => process.exit(status), endsWithinMs).unref())
