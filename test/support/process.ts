/** Starts programs of the tests in separate processes, which can be killed or hold a lock. */
import { resolve } from 'node:path'

export type Child = {
  lines: AsyncGenerator<string>
  send(line: string): void
  kill(signal?: NodeJS.Signals): void
  exited: Promise<number>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts `test/support/<program>`, or the program at a path. `lines` yields what it prints. */
export function startChild(program: string, args: readonly string[], env: Record<string, string> = {}): Child {
  const child = Bun.spawn([process.execPath, resolve(import.meta.dir, program), ...args], {
    env: { ...Bun.env, ...env },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  return {
    lines: linesOf(child.stdout),
    send(line) {
      child.stdin.write(`${line}\n`)
      child.stdin.flush()
    },
    kill: (signal = 'SIGKILL') => child.kill(signal),
    exited: child.exited,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    // The last line may be incomplete.
    rest = lines.pop() ?? ''
    yield* lines
  }
}
