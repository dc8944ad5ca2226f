/** Runs docs/tutorial.md against `souk demo`: each block of commands prints what the page says. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from '../support/database.ts'
import { describeProcesses, source, startCommand } from './souk.ts'

const page = readFileSync(join(import.meta.dir, '../../docs/tutorial.md'), 'utf8')
const separator = '--- next block ---'

/** Returns each block of commands with the output that follows it. */
const steps = [...page.matchAll(/```sh\n(.*?)```\n\n```\n(.*?)```/gs)].map(([, commands = '', output = '']) => ({ commands, output }))

async function bannerOf(demo: ReturnType<typeof startCommand>): Promise<string> {
  const reader = demo.stdout.getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (!text.includes('Press Ctrl-C to stop.\n')) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`the demo ended: ${text} ${await new Response(demo.stderr).text()}`)
    text += decoder.decode(value, { stream: true })
  }
  return text
}

describeProcesses('the tutorial', () => {
  test.skipIf(!Bun.which('curl'))('every block of commands prints what the page says', async () => {
    expect(steps.length).toBe([...page.matchAll(/```sh\n/g)].length)
    const dir = temporaryDir()
    const demo = startCommand(['demo'], dir, { LOG_LEVEL: 'warn' }, source)
    try {
      const banner = await bannerOf(demo)
      const stripe = banner.match(/(http\S+)CLIENT_SECRET/)?.[1] ?? ''
      const origin = banner.match(/(http\S+)\/product-v2/)?.[1] ?? ''
      const script = steps
        .map(({ commands }) => commands)
        .join(`echo '${separator}'\n`)
        // Before the path of Bun is inserted, which can contain /tmp/, too.
        .replaceAll('/tmp/', `${dir}/`)
        .replace('souk=http://127.0.0.1:3000', `souk=${origin}`)
        .replace(/stripe=http\S+/, `stripe=${stripe}`)
        .replaceAll('npx --yes bun@1.4.4 run --silent souk', source.join(' '))
      const shell = Bun.spawn(['bash', '-c', script], { cwd: dir, env: { ...Bun.env, DATA_DIR: dir }, stdout: 'pipe', stderr: 'inherit' })
      const printed = (await new Response(shell.stdout).text()).split(`${separator}\n`)
      expect(printed.map((output) => output.trim())).toEqual(steps.map(({ output }) => output.trim()))
    } finally {
      demo.kill('SIGKILL')
      await demo.exited
    }
  })
})
