/** Measures the same queries of few records and of very many, in turn, in one process per engine. */
import { join } from 'node:path'
import { withDatabases } from './databases.ts'
import type { Source } from './measured-instance.ts'
import { runScript, work } from './runs.ts'

/**
 * Runs a script on SQLite and, with a server, on PostgreSQL.
 * @param input of the script, beside the instances
 * @param serverUrl of a Postgres user who may create databases
 */
export async function compareSizes<Measurement>(
  script: string,
  { name, sizes, input }: { name: string; sizes: readonly number[]; input: object },
  serverUrl: string | undefined,
  report: (label: string, measurement: Measurement) => void,
): Promise<void> {
  const run = (engine: string, databaseUrls: readonly string[] = []) => {
    const instances: Source[] = sizes.map((size, nth) => ({
      dataDir: join(work, `${name}-${engine}-${size}`),
      databaseUrl: databaseUrls[nth],
      size,
    }))
    return runScript<Measurement>([script], { ...input, instances }, databaseUrls[0])
  }
  report('SQLite', await run('sqlite'))
  if (!serverUrl) return
  const databases = sizes.map((size) => `${name}_${size}`)
  await withDatabases(serverUrl, databases, async (databaseUrls) => report('Postgres', await run('postgres', databaseUrls)))
}
