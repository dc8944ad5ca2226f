/** A demo with its shops, for measurements. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { children, root, work } from './runs.ts'

export type Demo = {
  readonly url: string
  readonly pid: number
  /** The key of the main shop's shoppers. */
  readonly publishableKey: string
  readonly secretKey: string
  stop(): Promise<void>
}

/** The command of the binary's demo. @throws Error if there is no binary */
export async function demoOfBinary(): Promise<string[]> {
  const binary = join(root, 'dist', 'souk')
  if (!(await Bun.file(binary).exists())) throw new Error('dist/souk is not there: `bun run build` makes it')
  return [binary, 'demo']
}

/**
 * Starts a demo.
 * @param settings environment variables that override the demo's
 * @throws Error if it ends before it is ready
 */
export async function startDemo(command: string[], settings: Readonly<Record<string, string>> = {}): Promise<Demo> {
  const dataDir = join(work, 'demo')
  mkdirSync(dataDir, { recursive: true })
  const child = Bun.spawn(command, {
    env: { PATH: Bun.env['PATH'] ?? '', DATA_DIR: dataDir, PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'error', ...settings },
    stdout: 'pipe',
    stderr: 'ignore',
  })
  children.add(child)
  const stop = async () => {
    child.kill('SIGTERM')
    await child.exited
    children.delete(child)
  }
  let output = ''
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>)) {
    output += text
    const url = /souk is ready at (http:\/\/\S+)/.exec(output)?.[1]
    const publishableKey = /Publishable key\s+(\S+)\n/.exec(output)?.[1]
    const secretKey = /Secret key\s+(\S+)\n/.exec(output)?.[1]
    if (url && publishableKey && secretKey) return { url, pid: child.pid, publishableKey, secretKey, stop }
  }
  throw new Error('the demo ended before it was ready')
}
