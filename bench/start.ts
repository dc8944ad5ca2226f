/** Measures starts: the binary against a floor compiled with the same flags: time until ready, and idle memory. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from '../src/build.ts'
import { children, figure, median, print, quick, reportRatios, residentMb, root, work } from './runs.ts'

const starts = quick ? 5 : 20
/** After this time both programs have finished the work of their start. */
const idleMs = 3_000
const binary = join(root, 'dist', 'souk')

type Start = { readyMs: number; cpuMs: number; idleMb: number }

/** Measures `dist/souk` of `bun run build`; `on an empty directory` includes creating database and keys. */
export async function measureStart(): Promise<void> {
  if (!(await Bun.file(binary).exists())) throw new Error('dist/souk is not there: `bun run build` makes it')
  const [floor, dataDir] = [join(work, 'floor-start'), join(work, 'start')]
  mkdirSync(work, { recursive: true })
  compile(['bench/floor-start.ts'], floor)
  const souk = { command: [binary, 'serve'], env: { DATA_DIR: dataDir, PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'error' } }
  // Creates the file that both then open.
  await measureOneStart(souk, 0)
  const bare = { command: [floor, join(dataDir, 'souk.db')], env: {} }
  const runs: Record<'floor' | 'filled' | 'empty', Start[]> = { floor: [], filled: [], empty: [] }
  for (let round = 0; round < starts; round++) {
    print(`start ${round + 1} of ${starts}`)
    const empty = join(work, `empty-${round}`)
    // Idle memory varies little and takes long to measure.
    const wait = round < 5 ? idleMs : 0
    runs.floor.push(await measureOneStart(bare, wait))
    runs.filled.push(await measureOneStart(souk, wait))
    runs.empty.push(await measureOneStart({ ...souk, env: { ...souk.env, DATA_DIR: empty } }, 0))
    rmSync(empty, { recursive: true, force: true })
  }
  report('ready, existing directory', 'ms', '< 4', runs.filled, runs.floor, 'readyMs')
  report('CPU until ready, existing directory', 'ms', '< 4', runs.filled, runs.floor, 'cpuMs')
  report('ready, empty directory', 'ms', '', runs.empty, runs.floor, 'readyMs')
  report('CPU until ready, empty directory', 'ms', '', runs.empty, runs.floor, 'cpuMs')
  report('idle memory', 'MB', '< 2', runs.filled.slice(0, 5), runs.floor.slice(0, 5), 'idleMb')
}

/** Measures a start until the first line of output. Kills the process after `wait` ms. */
async function measureOneStart({ command, env }: { command: string[]; env: Record<string, string> }, wait: number): Promise<Start> {
  const startedAt = performance.now()
  const child = Bun.spawn(command, { env, stdout: 'pipe', stderr: 'inherit' })
  children.add(child)
  const reader = child.stdout.getReader()
  const { done } = await reader.read()
  const readyMs = performance.now() - startedAt
  if (done) throw new Error(`${command[0]} ended before it was ready`)
  const cpuMs = cpuOf(child.pid)
  await Bun.sleep(wait)
  const idleMb = residentMb(child.pid)
  child.kill('SIGTERM')
  const killer = setTimeout(() => child.kill('SIGKILL'), 2_000)
  await child.exited
  clearTimeout(killer)
  children.delete(child)
  return { readyMs, cpuMs, idleMb }
}

/** CPU time of all threads in ms: more reliable than the clock on a shared machine. */
function cpuOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const nanoseconds = threads.map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]))
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6
}

function report(what: string, unit: string, target: string, souk: readonly Start[], floor: readonly Start[], of: keyof Start): void {
  const values = (starts: readonly Start[]) => starts.map((start) => start[of])
  const text = (starts: readonly Start[]) => `${figure(median(values(starts)))} ${unit} (min ${figure(Math.min(...values(starts)))})`
  const ratios = souk.map((start, at) => start[of] / (floor[at]?.[of] ?? 1))
  reportRatios({ what, souk: text(souk), floor: text(floor), target }, ratios)
}
