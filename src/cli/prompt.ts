import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { UsageError } from './failure.ts'
import { Interrupted } from './interruption.ts'

const lineMaxBytes = 4_096

type Question = {
  /** As in "the password". */
  what: string
  /** Asked twice on a terminal, where input is hidden. */
  twice: boolean
  minLength: number
  maxLength: number
}

/**
 * Reads a secret: hidden on a terminal, otherwise the first line of standard input.
 * @throws UsageError if it is missing, too short, too long or not repeated correctly
 */
export async function askSecret({ what, twice, minLength, maxLength }: Question): Promise<string> {
  const terminal = process.stdin.isTTY
  const secret = terminal ? await readHidden(`${what}: `) : await readFirstLine()
  if (secret === '') throw new UsageError(`The ${what} is missing: type it on a terminal, or pass it as the first line of standard input`)
  const length = [...secret].length
  if (length < minLength || length > maxLength) throw new UsageError(`The ${what} must have ${minLength} to ${maxLength} characters`)
  if (terminal && twice && (await readHidden(`Repeat the ${what}: `)) !== secret)
    throw new UsageError("The entries don't match. Nothing was changed")
  return secret
}

/** Reads the first line of piped input without its end. Does not wait for more. */
async function readFirstLine(): Promise<string> {
  const reader = Bun.stdin.stream().getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (!text.includes('\n') && text.length <= lineMaxBytes) {
    const { done, value } = await reader.read()
    if (done) break
    text += decoder.decode(value, { stream: true })
  }
  await reader.cancel()
  return text.split('\n', 1)[0]?.replace(/\r$/, '') ?? ''
}

/** Reads a line from a terminal without echo. */
async function readHidden(prompt: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  // Prompts after echo is off: earlier input would be visible.
  process.stderr.write(prompt)
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve)
      lines.once('SIGINT', () => reject(new Interrupted('Stopped. Nothing was changed')))
      lines.once('close', () => reject(new Interrupted('Stopped. Nothing was changed')))
    })
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}

/** Asks for confirmation on a terminal; false without one. */
export async function isConfirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false
  const lines = createInterface({ input: process.stdin, terminal: false })
  process.stderr.write(`${question} Type yes: `)
  try {
    return await new Promise<boolean>((resolve) => {
      lines.once('line', (answer) => resolve(answer.trim() === 'yes'))
      lines.once('close', () => resolve(false))
    })
  } finally {
    lines.close()
  }
}
