/** Helpers of all measurements: child processes, alternating rounds, and the table of results. */
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Load, type LoadOptions, load, type Requests } from './load.ts'

export const quick = Bun.argv.includes('--quick')
export const rounds = quick ? 2 : 5
export const readLoad: LoadOptions = { seconds: quick ? 1 : 3, connections: 32 }
export const root = join(import.meta.dir, '..')
export const work = mkdtempSync(join(tmpdir(), 'souk-bench-'))

export type Child = { url: string; pid: number; stop(): Promise<void> }
type Row = { what: string; souk: string; floor: string; ratio: string; spread: string; target: string }
export const rows: Row[] = []

export const spreadOf = (ratios: readonly number[]) => `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`
export const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
export const print = (text: string) => process.stderr.write(`${text}\n`)
export const figure = (value: number, digits = 0) =>
  value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits })

/** Running processes, to stop when a measurement fails. */
export const children = new Set<{ kill(signal: 'SIGKILL'): void }>()

/**
 * Runs a script of this folder, with JSON on standard input and output.
 * @param databaseUrl of a Postgres; SQLite without one
 * @throws Error if the script fails
 */
export async function runScript<Answer>(
  [script, ...args]: readonly [script: string, ...args: string[]],
  input: object,
  databaseUrl = '',
): Promise<Answer> {
  const child = Bun.spawn(['bun', join(import.meta.dir, script), ...args], {
    env: { ...Bun.env, DATABASE_URL: databaseUrl },
    stdin: new Blob([JSON.stringify(input)]),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  children.add(child)
  const text = await new Response(child.stdout).text()
  children.delete(child)
  if ((await child.exited) !== 0) throw new Error(`${script} broke off`)
  return JSON.parse(text) as Answer
}

export async function start(script: string, ...args: string[]): Promise<Child> {
  const child = Bun.spawn(['bun', join(import.meta.dir, script), ...args], { cwd: root, stdout: 'pipe', stderr: 'inherit' })
  children.add(child)
  const reader = child.stdout.getReader()
  let text = ''
  while (!text.includes('\n')) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`${script} ended before it was ready`)
    text += Buffer.from(value).toString()
  }
  reader.releaseLock()
  return {
    url: text.trim(),
    pid: child.pid,
    async stop() {
      child.kill('SIGKILL')
      await child.exited
      children.delete(child)
    },
  }
}

export const residentMb = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

export type Pair = { souk: Load[]; floor: Load[] }

/** Adds a row with the median and the spread of the ratios. */
export const reportRatios = (row: Omit<Row, 'ratio' | 'spread'>, ratios: readonly number[], note = '') =>
  rows.push({ ...row, ratio: median(ratios).toFixed(2) + note, spread: spreadOf(ratios) })

/** Measures both in alternating rounds, so that other load affects both. */
export async function measureInTurn(souk: Child, floor: Child, requests: { souk: Requests; floor: Requests }): Promise<Pair> {
  const pair: Pair = { souk: [], floor: [] }
  await load(floor.url, requests.floor, { ...readLoad, seconds: 1 })
  await load(souk.url, requests.souk, { ...readLoad, seconds: 1 })
  for (let round = 0; round < rounds; round++) {
    pair.floor.push(await load(floor.url, requests.floor, readLoad))
    pair.souk.push(await load(souk.url, requests.souk, readLoad))
  }
  return pair
}

export function report(what: string, target: string, { souk, floor }: Pair): number {
  const ratios = souk.map((one, at) => one.perSecond / (floor[at]?.perSecond ?? 1))
  const errors = [...souk, ...floor].reduce((sum, one) => sum + one.errors, 0)
  const rate = (loads: Load[]) =>
    `${figure(median(loads.map(({ perSecond }) => perSecond)))}/s p99 ${figure(median(loads.map(({ p99Ms }) => p99Ms)), 2)} ms`
  reportRatios({ what, souk: rate(souk), floor: rate(floor), target }, ratios, errors > 0 ? ` (${errors} errors)` : '')
  return median(souk.map(({ perSecond }) => perSecond))
}

/** Returns the median latencies of several runs. */
export const latencyText = (loads: readonly Load[]) =>
  `p50 ${figure(median(loads.map(({ p50Ms }) => p50Ms)), 2)} ms, p99 ${figure(median(loads.map(({ p99Ms }) => p99Ms)), 2)} ms`

export function reportMemory(label: string, target: string, ...children: readonly [souk: Child, floor: Child]): void {
  const [souk, floor] = children.map(({ pid }) => residentMb(pid)) as [number, number]
  const ratio = `+${figure(souk - floor)} MB`
  const what = `resident memory under load, ${label}`
  rows.push({ what, souk: `${figure(souk)} MB`, floor: `${figure(floor)} MB`, ratio, spread: '', target })
}

export const reportSingle = (what: string, souk: string, target: string) =>
  rows.push({ what, souk, floor: '', ratio: '', spread: '', target })

/** Returns the results as a Markdown table. */
export function table(): string {
  const heads: Row = { what: 'what', souk: 'souk', floor: 'floor', ratio: 'ratio', spread: 'spread', target: 'target' }
  const columns = Object.keys(heads) as (keyof Row)[]
  const widths = columns.map((column) => Math.max(...[heads, ...rows].map((row) => row[column].length)))
  const line = (row: Row) => `| ${columns.map((column, at) => row[column].padEnd(widths[at] ?? 0)).join(' | ')} |`
  return [line(heads), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(line)].join('\n')
}
