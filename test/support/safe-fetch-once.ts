/** Runs one safe fetch in a separate process, with the environment of the test. Prints the result. */
import { createSafeFetch } from '../../src/clients/safe-fetch.ts'
import { OutgoingError } from '../../src/core/outgoing.ts'

const [url = ''] = Bun.argv.slice(2)
const safeFetch = createSafeFetch({ allowedNetworks: ['127.0.0.0/8'], lookup: async () => ['127.0.0.1'] })
const outcome = await safeFetch(url, { timeoutMs: 60_000, bytesMax: 1_000 }).then(
  ({ status, bytes }) => `${status} ${Buffer.from(bytes)}`,
  (error: unknown) => (error instanceof OutgoingError ? error.message : String(error)),
)
process.stdout.write(outcome)
