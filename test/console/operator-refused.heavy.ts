/** Tests screens of operators whom souk refuses: they show the reason and what to do. */
import { expect, setDefaultTimeout } from 'bun:test'
import { consoleTests } from '../support/console-tests.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests({
  settings: { OPERATOR_IP_ALLOWLIST: '203.0.113.0/24' },
  fill: async ({ app }) => ({ operator: await app.superAdmin() }),
})

test('an unlisted network address is reported on each operator screen', async ({ open, data: { operator } }) => {
  const visitor = await open({ as: operator, at: 'net/jobs' })
  visitor.expects(/^GET \/admin\/(operations|dashboard|affiliate|events)\S* 403$/)
  await visitor.heading('Background jobs')
  await visitor.text('OPERATOR_IP_ALLOWLIST')
  expect(await visitor.axe()).toEqual([])
  for (const at of ['net', 'net/rankings', 'net/operations', 'net/breakers', 'net/chains', 'net/backups']) {
    await visitor.go(at)
    await visitor.heading(/./)
    await visitor.text('Administrators can’t sign in from this address or country')
    expect([at, await visitor.has('Skeleton')]).toEqual([at, false])
  }
  await visitor.width('phone')
  expect(await visitor.axe()).toEqual([])
  await visitor.go('net/shops')
  await visitor.heading('Shops')
  await visitor.text('shop-1')
})
