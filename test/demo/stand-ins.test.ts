/** Tests what the demo's stand-ins for processors do beyond the tests of their clients (test/clients/processors). */
import { expect, test } from 'bun:test'
import { callOnThisMachine } from '../../src/demo/stand-ins/server.ts'
import { startStripe } from '../../src/demo/stand-ins/stripe.ts'

test('a stand-in sends messages over HTTP to the loopback address only, and not to host names', async () => {
  const calls: string[] = []
  const arrived = Promise.withResolvers<void>()
  await using listener = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url }) {
      calls.push(new URL(url).pathname)
      if (url.endsWith('/last')) arrived.resolve()
      return new Response()
    },
  })
  const { port } = listener
  for (const address of [
    '',
    'nonsense',
    `https://127.0.0.1:${port}/tls`,
    `http://name.localhost:${port}/name`,
    `ftp://127.0.0.1:${port}/ftp`,
  ])
    callOnThisMachine(address)
  callOnThisMachine(`http://127.0.0.1:${port}/last`)
  await arrived.promise
  expect(calls).toEqual(['/last'])
})

test('a restarted stand-in does not reuse ids', async () => {
  const names = new Set<string>()
  for (const made of [1_000_000, 2_000_000]) {
    await using server = await startStripe({ made })
    const headers = {
      authorization: 'Bearer sk_test_standin',
      'stripe-version': '2026-10-28.endive',
      'content-type': 'application/x-www-form-urlencoded',
    }
    for (const _ of [1, 2]) {
      const answer = await fetch(`${server.url}/v1/payment_intents`, { method: 'POST', headers, body: 'amount=1000&currency=usd' })
      names.add(((await answer.json()) as { id: string }).id)
    }
  }
  expect(names.size).toBe(4)
})
