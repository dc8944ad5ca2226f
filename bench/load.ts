/** Generates load by wrk if installed, otherwise by generator.ts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
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

const wrk = Bun.which('wrk')
export const generatorName = wrk ? 'wrk' : 'the bundled generator (install wrk for less noise)'

let scripts = 0

/** Sends `requests` to `url` as fast as it responds. */
export async function load(url: string, requests: Requests, options: LoadOptions): Promise<Load> {
  return wrk ? loadWithWrk(wrk, url, requests, options) : loadWithGenerator(url, requests, options)
}

async function loadWithWrk(command: string, url: string, requests: Requests, { seconds, connections }: LoadOptions): Promise<Load> {
  const dir = mkdtempSync(join(tmpdir(), 'souk-bench-'))
  const script = join(dir, 'requests.lua')
  writeFileSync(script, luaOf(requests))
  try {
    const child = Bun.spawn([command, '-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '-s', script, url], {
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const text = await new Response(child.stdout).text()
    if (!text.includes('Requests/sec')) throw new Error(`wrk gave no result: ${await new Response(child.stderr).text()}`)
    return {
      perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1] ?? 0),
      p50Ms: milliseconds(/50%\s+([\d.]+\w+)/.exec(text)?.[1]),
      p99Ms: milliseconds(/99%\s+([\d.]+\w+)/.exec(text)?.[1]),
      errors: Number(/Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1] ?? 0),
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** JSON escapes are valid in Lua for our texts. */
const lua = (text: string) => JSON.stringify(text)

/** The nth client address, in Lua. */
const clientInLua = `string.format('%d.%d.%d.%d', 11 + math.floor(n / 16777216) % 80, math.floor(n / 65536) % 256, math.floor(n / 256) % 256, n % 256)`

/** A table of headers, in Lua. */
const headersInLua = (headers: Readonly<Record<string, string>>) =>
  `{${Object.entries(headers)
    .map(([name, value]) => `[${lua(name)}]=${lua(value)}`)
    .join(',')}}`

function luaOf({ method = 'GET', paths, etags = [], headers = {}, each = [], body, clients }: Requests): string {
  const base = (scripts++ + 1) * 10_000_000 + (Date.now() % 10_000_000) * 100
  return `
local paths = {${paths.map(lua).join(',')}}
local headers = ${headersInLua(headers)}
local each = {${each.map(headersInLua).join(',')}}
local etags = {${etags.map(lua).join(',')}}
local n = ${base}
local first = ${scripts * (clients ?? 0)}
math.randomseed(7)
request = function()
  n = n + 1
  ${body === undefined ? 'local body = nil' : `local body = string.gsub(${lua(body)}, "{n}", tostring(n))`}
  local at = math.random(#paths)
  ${clients === undefined ? '' : `local nth = n; local n = first + nth % ${clients}; headers["x-forwarded-for"] = ${clientInLua}`}
  for name, value in pairs(each[at] or {}) do headers[name] = value end
  if #etags > 0 then headers["if-none-match"] = etags[at] end
  return wrk.format(${lua(method)}, paths[at], headers, body)
end
`
}

function milliseconds(text = '0ms'): number {
  const value = Number.parseFloat(text)
  if (text.endsWith('us')) return value / 1_000
  return text.endsWith('ms') ? value : value * 1_000
}

async function loadWithGenerator(url: string, requests: Requests, options: LoadOptions): Promise<Load> {
  const firstClient = scripts++ * (requests.clients ?? 0)
  const child = Bun.spawn(['bun', join(import.meta.dir, 'generator.ts')], { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
  child.stdin.write(JSON.stringify({ url, requests, options, firstClient }))
  await child.stdin.end()
  return (await new Response(child.stdout).json()) as Load
}
