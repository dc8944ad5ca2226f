/** Tests what `souk demo` checks before it creates sample data, and the notes of its banner. */
import { expect, test } from 'bun:test'
import { profileNetworks } from '../../src/cli/demo.ts'
import { notesOf } from '../../src/cli/start-notes.ts'
import { createSafeFetch } from '../../src/clients/safe-fetch.ts'
import { checkPort } from '../../src/server.ts'

test('the banner shows advice of the log as sentences, and log lines without advice unchanged', () => {
  const problem = '{"level":"error","event":"kpis.not_counted"}'
  const lines = ['{"level":"info","event":"server.started"}', '{"level":"info","event":"mail.off","advice":"Set SMTP_URL"}', problem]
  expect(notesOf(lines)).toEqual(['Set SMTP_URL.', problem])
})

test('a taken port is reported before the sample data is created', async () => {
  const host = '127.0.0.1'
  const other = Bun.serve({ hostname: host, port: 0, fetch: () => new Response() })
  const port = other.port ?? 0
  await expect(checkPort({ host, port })).rejects.toThrow(`Port ${port} is taken`)
  await other.stop(true)
  await checkPort({ host, port })
})

test('profiles on this machine are read where localhost has an IPv4 and an IPv6 address', async () => {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('{}') })
  const lookup = async () => ['::1', '127.0.0.1']
  const fetchProfile = createSafeFetch({ allowedNetworks: profileNetworks, httpNetworks: profileNetworks, lookup })
  const { status } = await fetchProfile(`http://localhost:${server.port}/profile`, { timeoutMs: 10_000, bytesMax: 100 })
  expect(status).toBe(200)
  await server.stop(true)
})
