/** Tests looking up accounts by their ids. */
import { expect, test } from 'bun:test'
import { testApp } from '../../../support/app.ts'
import { shopIn } from '../../../support/catalog.ts'
import { ok } from '../../../support/selling.ts'
import { staffOf } from '../../../support/staff.ts'

test('only operators get the e-mail addresses of accounts by their ids', async () => {
  await using app = await testApp()
  const operator = await app.superAdmin()
  const shop = await shopIn(app)
  const helper = await staffOf(app, shop, 'MANAGER')
  const readAccounts = (ids: string, token = operator.token) => app.call('GET', `/admin/accounts?ids=${ids}`, { token })
  const { data } = ok(await readAccounts([helper.id, shop.id, operator.id, 'usr_nobody', 'system'].join())).body
  const found = new Map(data.map(({ id, ...account }: { id: string }) => [id, account]))
  expect(found).toEqual(
    new Map([
      [helper.id, { email: helper.email, role: 'MERCHANT' }],
      [shop.id, { email: shop.email, role: 'MERCHANT' }],
      [operator.id, { email: operator.email, role: 'SUPER_ADMIN' }],
    ]),
  )
  expect((await readAccounts(helper.id, shop.token)).status).toBe(403)
  const hundred = Array.from({ length: 100 }, (_, nth) => `usr_${nth}`)
  expect(ok(await readAccounts(hundred.join())).body).toEqual({ data: [] })
  for (const invalidIds of ['', ',', 'usr_1,', 'a b', [...hundred, 'usr_100'].join()])
    expect([invalidIds, (await readAccounts(invalidIds)).status]).toEqual([invalidIds, 400])
})
