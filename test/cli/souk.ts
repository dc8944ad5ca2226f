/** Runs the program in real processes, each with a data directory. */
import { Database as Sqlite } from 'bun:sqlite'
import { describe, setDefaultTimeout } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { engine } from '../../db/columns.ts'
import { temporaryDir } from '../support/database.ts'
import { longTestMs } from '../support/timeouts.ts'

/** Starts souk from its source, as `bun run start` and `bun run demo` do. */
export const source: readonly string[] = [process.execPath, join(import.meta.dir, '..', '..', 'src', 'main.ts')]

/** The program that tests start: the binary that test/run.ts compiled for this run, or the source. */
export const program: readonly string[] = Bun.env['SOUK_PROGRAM'] ? [Bun.env['SOUK_PROGRAM']] : source

export type Settings = Record<string, string>
export type Outcome = { status: number; stdout: string; stderr: string }

/** Declares tests of processes, with a long time limit. On PostgreSQL it skips them with a message. */
export function describeProcesses(name: string, tests: () => void): void {
  if (engine !== 'sqlite') process.stderr.write(`skipped on Postgres: ${name} (data directory, lock and files are the embedded engine's)\n`)
  setDefaultTimeout(longTestMs)
  describe.skipIf(engine !== 'sqlite')(name, tests)
}

/** Returns the environment of a process: the test's settings without those of the test run. */
const environment = (dataDir: string, settings: Settings) => ({
  PATH: Bun.env['PATH'] ?? '',
  HOME: Bun.env['HOME'] ?? '',
  DATA_DIR: dataDir,
  PORT: '0',
  // A nightly backup during a test would be one that the test did not create.
  BACKUP_ENABLED: 'false',
  ...settings,
})

function start(args: readonly string[], dataDir: string, settings: Settings, stdin: string, by = program) {
  return Bun.spawn([...by, ...args], {
    cwd: dataDir,
    env: environment(dataDir, settings),
    stdin: new Blob([stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

/** Removes progress lines, which commands write only when they take long, as on a busy machine. */
export const withoutProgress = (stderr: string): string => stderr.replace(/^[A-Z][\w -]*: (?:\d+ %, .*|.* so far)\n/gm, '')

/** Runs a command until it ends. */
export async function souk(
  args: readonly string[],
  dataDir: string,
  { settings = {}, stdin = '', by = program }: { settings?: Settings; stdin?: string; by?: readonly string[] } = {},
): Promise<Outcome> {
  const child = start(args, dataDir, settings, stdin, by)
  const [status, stdout, stderr] = await Promise.all([
    child.exited,
    Bun.readableStreamToText(child.stdout),
    Bun.readableStreamToText(child.stderr),
  ])
  return { status, stdout, stderr: withoutProgress(stderr) }
}

/** Waits between two checks of another process, so that polling does not take its CPU. No test depends on the time. */
export const pause = () => Bun.sleep(2)

/** Starts a command. The test must end it. */
export const startCommand = (args: readonly string[], dataDir: string, settings: Settings = {}, by = program) =>
  start(args, dataDir, settings, '', by)

/** Runs a command on a terminal and types a line at each prompt. Returns the text on the screen. */
export async function onTerminal(
  args: readonly string[],
  dataDir: string,
  typing: readonly (readonly [prompt: string, line: string])[],
  by = program,
): Promise<{ status: number; screen: string }> {
  const decoder = new TextDecoder()
  let screen = ''
  let wake: () => void = () => undefined
  const closed = Promise.withResolvers<void>()
  const child = Bun.spawn([...by, ...args], {
    cwd: dataDir,
    env: environment(dataDir, {}),
    terminal: {
      data(_terminal, chunk) {
        screen += decoder.decode(chunk, { stream: true })
        wake()
      },
      exit: () => closed.resolve(),
    },
  })
  for (const [prompt, line] of typing) {
    while (!screen.endsWith(prompt)) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
    child.terminal?.write(line)
  }
  // The last output may arrive after the process has ended.
  const [status] = await Promise.all([child.exited, closed.promise])
  child.terminal?.close()
  return { status, screen }
}

/** Collects the output of a process, and waits for a pattern in it. */
function collectOutput(stream: ReadableStream<Uint8Array>) {
  let text = ''
  let ended = false
  const waiting = new Set<() => void>()
  const pump = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true })
      for (const check of waiting) check()
    }
    ended = true
    for (const check of waiting) check()
  })()
  return {
    text: () => text,
    ended: pump,
    until: (pattern: RegExp) =>
      new Promise<string>((resolve, reject) => {
        const check = () => {
          const [match] = pattern.exec(text) ?? []
          if (match === undefined && !ended) return
          waiting.delete(check)
          if (match === undefined) reject(new Error(`never said ${pattern}: ${text}`))
          else resolve(match)
        }
        waiting.add(check)
        check()
      }),
  }
}

export type Server = Awaited<ReturnType<typeof serve>>

/** Starts a server in a process and waits until it is ready. Its disposal ends it. */
export async function serve(dataDir: string, settings: Settings = {}, by = program) {
  const child = start(['serve'], dataDir, { SIGNUP_ENABLED: 'true', ...settings }, '', by)
  const out = collectOutput(child.stdout)
  const log = collectOutput(child.stderr)
  let url: string
  try {
    url = await out.until(/http:\/\/[\w.:[\]]+/)
  } catch (error) {
    throw new Error(`the server did not start: ${log.text()}`, { cause: error })
  }
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    child.kill(signal)
    return child.exited
  }
  return {
    url,
    out,
    log,
    pid: child.pid,
    end,
    exited: child.exited,
    async call(method: string, path: string, { token, body }: { token?: string; body?: unknown } = {}) {
      const headers = { 'content-type': 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
      const response = await fetch(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
      const text = await response.text()
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

export const merchantLogin = { email: 'merchant@example.com', password: 'password-of-merchant' }

/** Signs a merchant up and logs in. The shop has a sealed secret. */
export async function signUp(server: Server): Promise<{ token: string; privateKey: string }> {
  const signedUp = await server.call('POST', '/merchant/signup', {
    body: { ...merchantLogin, shopName: 'a-shop', country: 'US', currency: 'USD' },
  })
  if (signedUp.status !== 201) throw new Error(`sign-up answered ${signedUp.status}`)
  const token = await logIn(server)
  return { token, privateKey: await privateKeyOf(server, token) }
}

/** Reads all files of a directory with their modes. Returns a function that writes them into a new directory. */
export function copiesOf(dir: string): () => string {
  const match = readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => {
    const path = join(dir, name)
    const { mode } = statSync(path)
    return { name, mode, bytes: statSync(path).isDirectory() ? undefined : readFileSync(path) }
  })
  return () => {
    const copy = temporaryDir()
    for (const { name, bytes, mode } of match) {
      if (bytes) writeFileSync(join(copy, name), bytes, { mode })
      else mkdirSync(join(copy, name), { mode })
    }
    return copy
  }
}

/** Returns the data directory of a stopped server. It has a shop with sealed secrets. */
export async function servedOnce() {
  stoppedInstance ??= (async () => {
    const dataDir = temporaryDir()
    await using server = await serve(dataDir)
    const { privateKey } = await signUp(server)
    const status = await server.end('SIGTERM')
    if (status !== 0) throw new Error(`the server ended with ${status}`)
    return { copy: copiesOf(dataDir), privateKey }
  })()
  const { copy, privateKey } = await stoppedInstance
  const dataDir = copy()
  return { dataDir, privateKey, database: join(dataDir, 'souk.db'), keys: join(dataDir, 'keys.json') }
}
let stoppedInstance: Promise<{ copy: () => string; privateKey: string }> | undefined

export async function logIn(server: Server, login = merchantLogin): Promise<string> {
  const { status, body } = await server.call('POST', '/merchant/login', { body: login })
  if (status !== 200) throw new Error(`login answered ${status}`)
  return body.data.accessToken
}

export async function privateKeyOf(server: Server, token: string): Promise<string> {
  const { status, body } = await server.call('GET', '/shops/v2/private-key', { token })
  if (status !== 200) throw new Error(`the private key answered ${status}`)
  return body.privateKey
}

/** Opens a database file directly, to read or change it without the program. */
export function withFile<T>(file: string, use: (connection: Sqlite) => T): T {
  const connection = new Sqlite(file)
  try {
    connection.run('PRAGMA busy_timeout = 5000')
    return use(connection)
  } finally {
    connection.close()
  }
}
