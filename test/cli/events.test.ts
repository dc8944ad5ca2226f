/** Tests event streams of a real process that is killed or stopped. */
import { expect, test } from 'bun:test'
import { temporaryDir } from '../support/database.ts'
import { streamFrom } from '../support/events.ts'
import { describeProcesses, type Server, serve, signUp } from './souk.ts'

const path = '/v2/events'
const product = { title: 'Mug', status: 'ACTIVE', variants: [{ price: { amount: 500, currency: 'USD' }, onHand: 5 }] }

describeProcesses('event streams of a server process', () => {
  test('an event stream resumes after kill -9 without loss, and ends at once when the server stops', async () => {
    const dataDir = temporaryDir()
    const first = await serve(dataDir)
    const { token } = await signUp(first)
    const { body: mug } = await first.call('POST', '/product-v2', { token, body: product })
    const stock = (server: Server, delta: number) =>
      server.call('POST', `/product-v2/${mug.id}/variants/${mug.variants[0].id}/stock`, { token, body: { delta } })
    const stream = await streamFrom(first.url, path, { token })
    await stock(first, 1)
    await stream.until(() => stream.events.length === 1)
    const lastEventId = stream.lastId()
    await stock(first, 2)
    await first.end('SIGKILL')
    await stream.ended()
    await using second = await serve(dataDir)
    const resumed = await streamFrom(second.url, path, { token, lastEventId })
    await resumed.until(() => resumed.events.length === 1)
    expect(resumed.events.map(({ event, data }) => [event, data['onHand']])).toEqual([['stock.changed', 8]])
    const stopping = second.end('SIGTERM')
    await resumed.ended()
    expect(await stopping).toBe(0)
  })
})
