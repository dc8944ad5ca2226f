/** Tests the keys of the instance: one per purpose, permanent and the same in every process. */
import { expect, test } from 'bun:test'
import { instanceKeys } from '../../../../db/schema/platform.ts'
import { createInstanceKeys } from '../../../../src/modules/identity/instance-key/service.ts'
import { testApp } from '../../../support/app.ts'

test('two processes on one database agree on a key, even if both create it at the same time', async () => {
  await using app = await testApp()
  const [first, second] = [createInstanceKeys(app.deps), createInstanceKeys(app.deps)]
  const [a, b] = await Promise.all([first.of('GIFT_CARD_CODES'), second.of('GIFT_CARD_CODES')])
  expect(a).toHaveLength(32)
  expect(b.equals(a)).toBe(true)
  expect((await createInstanceKeys(app.deps).of('GIFT_CARD_CODES')).equals(a)).toBe(true)
  expect(await app.deps.db.read.select().from(instanceKeys)).toHaveLength(1)
})

test('each purpose has its own key, and the database stores none in plain text', async () => {
  await using app = await testApp()
  const keys = createInstanceKeys(app.deps)
  const [codes, webhooks] = await Promise.all([keys.of('GIFT_CARD_CODES'), keys.of('SANDBOX_WEBHOOKS')])
  expect(codes.equals(webhooks)).toBe(false)
  const stored = JSON.stringify(await app.deps.db.read.select().from(instanceKeys))
  for (const key of [codes, webhooks])
    for (const encoding of ['base64', 'base64url', 'hex'] as const) expect(stored).not.toContain(key.toString(encoding))
})

test('a sealed key does not open for another purpose', async () => {
  await using app = await testApp()
  const { db } = app.deps
  await createInstanceKeys(app.deps).of('GIFT_CARD_CODES')
  const [row] = await db.read.select().from(instanceKeys)
  if (!row) throw new Error('no key was created')
  await db.write((tx) => tx.insert(instanceKeys).values({ ...row, purpose: 'SANDBOX_WEBHOOKS' }))
  await expect(createInstanceKeys(app.deps).of('SANDBOX_WEBHOOKS')).rejects.toThrow()
})

test('a key is read once, and a failed read is not cached', async () => {
  await using app = await testApp()
  const created = await createInstanceKeys(app.deps).of('GIFT_CARD_CODES')
  let opened = 0
  const { keyring } = app.deps
  const keys = createInstanceKeys({
    ...app.deps,
    keyring: {
      ...keyring,
      unseal(sealed, about) {
        if (++opened === 1) throw new Error('not now')
        return keyring.unseal(sealed, about)
      },
    },
  })
  await expect(keys.of('GIFT_CARD_CODES')).rejects.toThrow('not now')
  for (let nth = 0; nth < 3; nth++) expect((await keys.of('GIFT_CARD_CODES')).equals(created)).toBe(true)
  expect(opened).toBe(2)
})
