/** A Redis or Valkey server on a free port. */
import { freePort } from './free-port.ts'

const binary = Bun.which('redis-server') ?? Bun.which('valkey-server')

/** Why no server is available; undefined if one is. */
export const whyNoRedis = binary === null ? 'neither redis-server nor valkey-server is installed' : undefined

export async function startRedis() {
  const port = await freePort()
  async function start() {
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
    const child = Bun.spawn([binary ?? 'redis-server', ...options], { stdout: 'pipe', stderr: 'ignore' })
    let output = ''
    const reader = child.stdout.getReader()
    while (!output.includes('Ready to accept connections')) {
      const { value, done } = await reader.read()
      if (done) throw new Error(`redis-server ended: ${output}`)
      output += new TextDecoder().decode(value)
    }
    reader.releaseLock()
    return child
  }
  let child = await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    /** Suspends the server: it accepts connections and does not respond. */
    hang: () => void process.kill(child.pid, 'SIGSTOP'),
    wake: () => void process.kill(child.pid, 'SIGCONT'),
    async stop() {
      process.kill(child.pid, 'SIGCONT')
      child.kill('SIGKILL')
      await child.exited
    },
    /** Starts the server again, without data. */
    start: async () => {
      child = await start()
    },
    async [Symbol.asyncDispose]() {
      process.kill(child.pid, 'SIGCONT')
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
