/** Instances that a script of measurements opens in its own process. */
import { parseConfig } from '../src/config.ts'
import { type Instance, openInstance } from '../src/instance.ts'
import { benchSettings } from './seed.ts'

/** `size`: how many records to seed. */
export type Source = { readonly dataDir: string; readonly databaseUrl: string | undefined; readonly size: number }
/** By query, the fastest response of each instance in milliseconds, because other load only slows responses. */
export type Times = Record<string, number[]>

/** Opens an instance as a server, without a port. */
export const openMeasured = (
  { dataDir, databaseUrl }: Pick<Source, 'dataDir' | 'databaseUrl'>,
  settings: Record<string, string> = {},
): Promise<Instance> =>
  openInstance({
    config: parseConfig({ ...benchSettings(dataDir), PORT: '0', ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}), ...settings }),
    as: 'server',
  })

/** Sends a request through the edge. Returns the body and the duration in milliseconds. */
export async function ask({ edge }: Instance, path: string, headers: Record<string, string>): Promise<{ ms: number; body: string }> {
  const startedAt = performance.now()
  const request = new Request(`http://localhost${path}`, { headers: { host: 'localhost', ...headers } })
  const response = await edge.fetch(request, { requestIP: () => ({ address: '127.0.0.1' }) })
  const body = await response.text()
  const ms = performance.now() - startedAt
  if (response.status !== 200) throw new Error(`${path} answered ${response.status} ${body}`)
  return { ms, body }
}

/**
 * Times queries of several instances in turn.
 * @param queries time one query each
 * @param repetitions after a run that fills caches
 */
export async function fastestTimes(
  names: readonly string[],
  queries: readonly ((name: string) => Promise<number>)[],
  { rounds, repetitions }: { rounds: number; repetitions: number },
): Promise<Times> {
  const times: Times = Object.fromEntries(names.map((name) => [name, queries.map(() => Number.POSITIVE_INFINITY)]))
  for (let round = 0; round < rounds; round++)
    for (const [name, fastest] of Object.entries(times))
      for (const [nth, query] of queries.entries()) {
        await query(name)
        for (let time = 0; time < repetitions; time++) fastest[nth] = Math.min(fastest[nth] as number, await query(name))
      }
  return times
}

/** Writes a measurement to standard output, closes the instances and ends the process. */
export async function finish(measurement: object, instances: readonly Instance[]): Promise<never> {
  process.stdout.write(JSON.stringify(measurement))
  for (const instance of instances) await instance.close()
  process.exit(0)
}
