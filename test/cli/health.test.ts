import { expect, setDefaultTimeout, test } from 'bun:test'
import { checkHealth, serverAddressOf } from '../../src/cli/health.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** Starts a server with the given response, and passes its address to `use`. */
async function withServer<T>(answer: (request: Request) => Response | Promise<Response>, use: (url: string) => Promise<T>): Promise<T> {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer })
  try {
    return await use(`http://127.0.0.1:${server.port}`)
  } finally {
    server.stop(true)
  }
}
const failing = (message: string, status = 503) => Response.json({ statusCode: status, message }, { status })

test('a ready server stays ready when an informational check fails, which becomes a note', async () => {
  const checks = [
    { name: 'diskSpace', ok: true },
    { name: 'backupRecent', ok: false },
  ]
  await withServer(
    () => Response.json({ status: 'ok', version: '1.2.3', checks }),
    async (url) =>
      expect(await checkHealth({ url })).toEqual({
        url,
        ready: true,
        version: '1.2.3',
        problems: [],
        notes: ['backupRecent: the last backup is late: run `souk backup` to create one and see the cause'],
      }),
  )
})

test('a server that is not ready lists each failed check in words, and an unknown check by name', async () => {
  await withServer(
    () => failing('Not ready: diskSpace, keysAtHand, somethingNew'),
    async (url) =>
      expect((await checkHealth({ url })).problems).toEqual([
        'diskSpace: less disk space is free than DISK_FREE_MIN_MB: free some space',
        'keysAtHand: keys.json is missing or holds other keys: put it back before the next start',
        'somethingNew: this check fails',
      ]),
  )
})

test('the health check distinguishes no server, another server and no response, within its time limit', async () => {
  const problemOf = async (answer: (request: Request) => Response | Promise<Response>) =>
    withServer(answer, async (url) => {
      const { ready, problems } = await checkHealth({ url }, 200)
      return [ready, ...problems]
    })
  const never = Promise.withResolvers<Response>()
  expect(await problemOf(() => never.promise)).toEqual([false, expect.stringContaining('no answer within 5 seconds')])
  never.resolve(new Response())
  expect(await problemOf(() => new Response('<html>'))).toEqual([
    false,
    expect.stringContaining('another program answers at this address (status 200)'),
  ])
  expect(await problemOf(() => Response.json(['status', 'ok']))).toEqual([
    false,
    expect.stringContaining('another program answers at this address (status 200)'),
  ])
  expect(await problemOf(() => Response.redirect('/elsewhere'))).toEqual([false, expect.stringContaining('with a redirect')])
  expect(await problemOf(() => new Response('x'.repeat(100_000)))).toEqual([false, expect.stringContaining('with a large response')])
  expect(await problemOf(() => failing('The database is busy'))).toEqual([false, expect.stringContaining('status 503')])
  expect(await problemOf(() => failing('host: not served here', 400))).toEqual([false, expect.stringContaining('ALLOWED_HOSTS')])
  const closedUrl = await withServer(
    () => new Response(),
    async (url) => url,
  )
  expect((await checkHealth({ url: closedUrl })).problems).toEqual([expect.stringContaining('nothing is listening at this address')])
})

test('the health check uses the configured address and an allowed host name', async () => {
  const addressOf = (host: string, ...allowedHosts: string[]) => serverAddressOf({ host, port: 3000, allowedHosts })
  expect(addressOf('127.0.0.1')).toEqual({ url: 'http://127.0.0.1:3000', host: undefined })
  expect(addressOf('0.0.0.0')).toEqual({ url: 'http://127.0.0.1:3000', host: undefined })
  expect(addressOf('::')).toEqual({ url: 'http://[::1]:3000', host: undefined })
  expect(addressOf('0.0.0.0', 'shop.example')).toEqual({ url: 'http://127.0.0.1:3000', host: 'shop.example' })
  expect(addressOf('0.0.0.0', 'shop.example', '127.0.0.1')).toEqual({ url: 'http://127.0.0.1:3000', host: undefined })
  expect(() => serverAddressOf({ host: '127.0.0.1', port: 0, allowedHosts: [] })).toThrow('use --url')
  await withServer(
    ({ headers }) => failing(`Not ready: ${headers.get('host')?.replaceAll('.', '_')}`),
    async (url) => expect((await checkHealth({ url, host: 'shop.example' })).problems[0]).toStartWith('shop_example'),
  )
})
