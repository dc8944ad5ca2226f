/** A bucket for documents in a process of its own: prints the settings to use it as JSON. */
import { startS3 } from '../test/clients/documents/s3-server.ts'

process.stdout.write(`${JSON.stringify(startS3().settings)}\n`)
