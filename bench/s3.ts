/** Runs a bucket for documents in a separate process, and prints its settings as JSON. */
import { startS3 } from '../test/clients/documents/s3-server.ts'

process.stdout.write(`${JSON.stringify(startS3().settings)}\n`)
