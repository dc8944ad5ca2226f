/** Generates load in a process of its own (generator.ts). */
import { join } from 'node:path'

export type Load = { perSecond: number; p50Ms: number; p99Ms: number; errors: number }
/** Paths are chosen at random; `{n}` in a body becomes a new number. */
export type Requests = {
  method?: 'GET' | 'POST'
  paths: readonly string[]
  /** The caller's ETag of each path. */
  etags?: readonly string[]
  headers?: Record<string, string>
  /** Further headers of each path. */
  each?: readonly Readonly<Record<string, string>>[]
  body?: string
  /** The number of client addresses that take turns behind a proxy. Each load has others, so that none is limited. */
  clients?: number
}
export type LoadOptions = { seconds: number; connections: number }

/** Returns the latency of a percentile; `latencies` are sorted. */
export const percentile = (latencies: readonly number[], share: number): number =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0

let loads = 0

/** Sends `requests` to `url` as fast as it responds. */
export async function load(url: string, requests: Requests, options: LoadOptions): Promise<Load> {
  const firstClient = loads++ * (requests.clients ?? 0)
  const child = Bun.spawn(['bun', join(import.meta.dir, 'generator.ts')], { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
  child.stdin.write(JSON.stringify({ url, requests, options, firstClient }))
  await child.stdin.end()
  return (await new Response(child.stdout).json()) as Load
}
