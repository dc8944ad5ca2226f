import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { UsageError } from './failure.ts'
import { Interrupted } from './interruption.ts'

const lineMaxBytes = 4_096

export type Question = {
  /** As in "the password". */
  what: string
  /** Asked for twice on a terminal, where nobody sees what is typed. */
  twice: boolean
  minLength: number
  maxLength: number
}

/**
 * A secret from whoever runs the command: typed unseen on a terminal, else the first line of standard input.
 * @throws UsageError when there is none, it is too short or too long, or the two differ
 */
export async function askSecret({ what, twice, minLength, maxLength }: Question): Promise<string> {
  const terminal = process.stdin.isTTY
  const secret = terminal ? await typedUnseen(`${what}: `) : await firstLine()
  if (secret === '')
    throw new UsageError(`No ${what} was given: type it on a terminal, or hand it over as the first line of standard input`)
  const length = [...secret].length
  if (length < minLength || length > maxLength) throw new UsageError(`The ${what} must have ${minLength} to ${maxLength} characters`)
  if (terminal && twice && (await typedUnseen(`${what}, once more: `)) !== secret)
    throw new UsageError('The two are not the same: nothing was done')
  return secret
}

/** The first line of what is piped in, without its end. Does not wait for more. */
async function firstLine(): Promise<string> {
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

/** One line of a terminal without an echo. */
async function typedUnseen(prompt: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  // Only now: what is typed before the terminal was silenced would be seen.
  process.stderr.write(prompt)
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve)
      lines.once('SIGINT', () => reject(new Interrupted('Stopped: nothing was done')))
      lines.once('close', () => reject(new Interrupted('Stopped: nothing was done')))
    })
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}

/** Asks on a terminal whether to go on; where nobody sits at one, no. */
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
