/** Tests the staff of a shop: invitations and roles, and that both end immediately. */
import { describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { oneTimeTokens } from '../../../../db/schema/mail.ts'
import { auditLog, users } from '../../../../db/schema/people.ts'
import { staff } from '../../../../db/schema/staff.ts'
import { system } from '../../../../src/core/command-context.ts'
import { startSession } from '../../../../src/modules/identity/auth/service.ts'
import { storeInvitation } from '../../../../src/modules/identity/member/index.ts'
import { issueToken } from '../../../../src/modules/identity/one-time-token/index.ts'
import { acceptInvitation, changeStaff, inviteStaff, removeStaff } from '../../../../src/modules/identity/staff/index.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { openCommandInstance } from '../../../support/command-process.ts'
import { customerIn } from '../../../support/customers.ts'
import { mailRows } from '../../../support/mails.ts'
import { invitePerson, staffOf, staffPassword, tokenOfUrl } from '../../../support/staff.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const dayMs = 24 * 60 * 60_000
const accept = (app: TestApp, body: object, from = '127.0.0.1') => app.call('POST', '/auth/invitation', { body, from })
const login = (app: TestApp, email: string, password: string) => app.call('POST', '/merchant/login', { body: { email, password } })
/** Starts a session and returns its access token, because access tokens expire after an hour. */
const freshToken = async (app: TestApp, id: string) => (await startSession(app.deps, { id, role: 'MERCHANT' }, system)).data.accessToken
const listOf = async (app: TestApp, { token }: { token: string }) => (await app.call('GET', '/shops/v2/staff', { token })).body.data

describe('an invitation', () => {
  test('creates an account with the role for a new person; the person who created the shop is its first owner', async () => {
    await using app = await testApp()
    const owner = await app.merchant()
    const [first] = await listOf(app, owner)
    expect(first).toMatchObject({ email: owner.email, userId: owner.id, role: 'OWNER', status: 'ACTIVE', invitationExpiresAt: null })
    const invitation = await app.call('POST', '/shops/v2/staff', {
      token: owner.token,
      body: { email: 'Ann.Other@Example.com', role: 'FULFILMENT' },
    })
    expect(invitation.status).toBe(201)
    expect(invitation.headers.get('cache-control')).toBe('no-store')
    const { inviteUrl, ...record } = invitation.body
    expect(record).toEqual({
      ...{ id: expect.stringMatching(/^staff_/), shopId: owner.shop.id, userId: null, email: 'ann.other@example.com', name: null },
      ...{ role: 'FULFILMENT', status: 'INVITED', joinedAt: null },
      ...{ createdAt: record.createdAt, updatedAt: record.createdAt },
      invitationExpiresAt: new Date(app.clock.now() + 7 * dayMs).toISOString(),
    })
    expect(inviteUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console\/invitation#\/[\w-]{43}$/)
    expect((await app.call('GET', `/shops/v2/staff/${record.id}`, { token: owner.token })).body).toEqual(record)

    const token = tokenOfUrl(inviteUrl)
    expect((await accept(app, { token })).body.message).toContain('password:')
    for (const password of ['short', 'password1234']) expect((await accept(app, { token, password })).status).toBe(400)
    const joined = await accept(app, { token, password: staffPassword, name: 'Ann Other' })
    const { id, name, title } = owner.shop
    expect([joined.status, joined.body]).toEqual([200, { shop: { id, name, title }, email: 'ann.other@example.com', role: 'FULFILMENT' }])
    expect((await accept(app, { token, password: staffPassword })).status).toBe(401)

    const loggedIn = await login(app, 'ANN.other@example.com', staffPassword)
    expect(loggedIn.status).toBe(200)
    const me = await app.call('GET', '/merchant/me', { token: loggedIn.body.data.accessToken })
    expect(me.body).toMatchObject({ merchant: { email: 'ann.other@example.com', secondFactor: false }, kyb: null })
    expect(me.body.shops.map((shop: { id: string; role: string }) => [shop.id, shop.role])).toEqual([[owner.shop.id, 'FULFILMENT']])
    const [, afterJoin] = await listOf(app, owner)
    expect(afterJoin).toMatchObject({
      id: record.id,
      name: 'Ann Other',
      status: 'ACTIVE',
      userId: me.body.merchant.id,
      invitationExpiresAt: null,
    })
  })

  test('is mailed each time it is sent if a mail server is set, and the response has no link', async () => {
    await using app = await testApp({ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'Souk <shop@example.com>' })
    const owner = await app.merchant()
    for (const role of ['READ_ONLY', 'MANAGER']) {
      const answer = await app.call('POST', '/shops/v2/staff', { token: owner.token, body: { email: 'ann@example.com', role } })
      expect([answer.status, answer.body.role, 'inviteUrl' in answer.body]).toEqual([201, role, false])
    }
    expect((await mailRows(app)).map(({ template, shopId, status }) => [template, shopId, status])).toEqual(
      Array(2).fill(['invitation', owner.shop.id, 'PENDING']),
    )
    const tokens = await app.deps.db.read.select().from(oneTimeTokens)
    expect(tokens.map(({ usedAt }) => usedAt === null).sort()).toEqual([false, true])
    expect(await listOf(app, owner)).toHaveLength(2)
  })

  test('that is sent again has a new link and the new role, and the previous link is invalid', async () => {
    await using app = await testApp()
    const owner = await app.merchant()
    const before = await invitePerson(app, owner, 'MANAGER', 'ann@example.com')
    app.clock.advance(6 * dayMs)
    owner.token = await freshToken(app, owner.id)
    const after = await invitePerson(app, owner, 'READ_ONLY', 'ANN@example.com')
    expect(after.id).toBe(before.id)
    app.clock.advance(6 * dayMs)
    owner.token = await freshToken(app, owner.id)
    expect((await accept(app, { token: before.token, password: staffPassword })).status).toBe(401)
    expect((await accept(app, { token: after.token, password: staffPassword })).body.role).toBe('READ_ONLY')
    expect((await login(app, 'ann@example.com', staffPassword)).status).toBe(200)
    const reinvited = await app.call('POST', '/shops/v2/staff', { token: owner.token, body: { email: 'Ann@example.com', role: 'OWNER' } })
    expect([reinvited.status, reinvited.body.message]).toEqual([409, 'email: this person already works in the shop'])
    const ownAddress = await app.call('POST', '/shops/v2/staff', { token: owner.token, body: { email: owner.email, role: 'READ_ONLY' } })
    expect(ownAddress.status).toBe(409)
  })

  test('ends after seven days, and when it is withdrawn', async () => {
    await using app = await testApp()
    const owner = await app.merchant()
    const expired = await invitePerson(app, owner, 'MANAGER')
    app.clock.advance(7 * dayMs)
    owner.token = await freshToken(app, owner.id)
    expect((await accept(app, { token: expired.token, password: staffPassword })).status).toBe(401)
    const withdrawn = await invitePerson(app, owner, 'MANAGER')
    const { token } = owner
    expect((await app.call('DELETE', `/shops/v2/staff/${withdrawn.id}`, { token })).status).toBe(204)
    expect((await accept(app, { token: withdrawn.token, password: staffPassword })).status).toBe(401)
    expect((await app.call('GET', `/shops/v2/staff/${withdrawn.id}`, { token })).status).toBe(404)
  })

  test('gives the role that it has when it is accepted', async () => {
    await using app = await testApp()
    const owner = await app.merchant()
    const { id, token } = await invitePerson(app, owner, 'OWNER')
    await app.call('PATCH', `/shops/v2/staff/${id}`, { token: owner.token, body: { role: 'READ_ONLY' } })
    expect((await accept(app, { token, password: staffPassword })).body.role).toBe('READ_ONLY')
  })

  test('that is sent concurrently to one address exists once', async () => {
    await using app = await testApp()
    const owner = await app.merchant()
    const body = { email: 'ann@example.com', role: 'MANAGER' }
    const answers = await Promise.all(Array.from({ length: 4 }, () => app.call('POST', '/shops/v2/staff', { token: owner.token, body })))
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true)
    expect(answers.some(({ status }) => status === 201)).toBe(true)
    expect(await listOf(app, owner)).toHaveLength(2)
    // Only the link that was sent last is valid.
    const joins = await Promise.all(
      answers
        .filter(({ status }) => status === 201)
        .map(({ body: { inviteUrl } }) => accept(app, { token: tokenOfUrl(inviteUrl), password: staffPassword })),
    )
    expect(joins.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('that is accepted concurrently in two processes is accepted once', async () => {
    // The other process uses real password hashes.
    await using app = await testApp({}, { realPasswords: true })
    const owner = await app.merchant()
    const { token, email } = await invitePerson(app, owner, 'MANAGER')
    await using otherProcess = await openCommandInstance(app)
    const caller = { limitKey: 'here', agent: undefined }
    const input = { token, password: staffPassword }
    const all = await Promise.allSettled(
      [app.deps, otherProcess.deps, app.deps, otherProcess.deps].map((deps) => acceptInvitation(deps, input, caller)),
    )
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const one of all) if (one.status === 'rejected') expect(['UNAUTHENTICATED', 'CONFLICT']).toContain(one.reason.kind)
    expect(await app.deps.db.read.select().from(users).where(eq(users.email, email))).toHaveLength(1)
    expect(await listOf(app, owner)).toHaveLength(2)
  })
})

describe('an existing account', () => {
  test('joins by a mailed link only with its password, which stays the same, because somebody else may read the mail', async () => {
    await using app = await testApp({ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'Souk <shop@example.com>' })
    const [owner, other] = [await app.merchant(), await app.merchant()]
    await app.call('POST', '/shops/v2/staff', { token: owner.token, body: { email: other.email, role: 'MANAGER' } })
    const [mail] = await mailRows(app)
    const { data } = JSON.parse(app.deps.keyring.unseal(mail?.sealed ?? '', `mail/${mail?.id}`))
    expect((await accept(app, { token: data.token, password: 'another password' })).status).toBe(401)
    const refused = await accept(app, { token: data.token })
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('the password of this account')])
    const joined = await accept(app, { token: data.token, name: 'Bo', password: other.password })
    expect([joined.status, joined.body.email, joined.body.role]).toEqual([200, other.email, 'MANAGER'])
    expect((await login(app, other.email, other.password)).status).toBe(200)
  })

  test('joins by a link only with its password, which stays the same', async () => {
    await using app = await testApp()
    const [owner, other] = [await app.merchant(), await app.merchant()]
    const firstInvitation = await invitePerson(app, owner, 'MANAGER', other.email)
    expect((await accept(app, { token: firstInvitation.token })).status).toBe(400)
    expect((await accept(app, { token: firstInvitation.token, password: staffPassword })).status).toBe(200)
    expect((await login(app, other.email, staffPassword)).status).toBe(401)
    expect((await login(app, other.email, other.password)).status).toBe(200)
    expect((await listOf(app, owner))[1]).toMatchObject({ status: 'INVITED', userId: null })
    const secondInvitation = await invitePerson(app, owner, 'MANAGER', other.email)
    expect((await accept(app, { token: secondInvitation.token, password: other.password })).status).toBe(200)
    expect((await listOf(app, owner))[1]).toMatchObject({ status: 'ACTIVE', userId: other.id })
  })

  test('is not revealed to a shop that has the link: every address gets the same responses after the same work', async () => {
    await using app = await testApp()
    const [owner, other, admin] = [await app.merchant(), await app.merchant(), await app.superAdmin()]
    const outcomes: unknown[] = []
    for (const email of ['nobody@example.com', other.email, admin.email]) {
      const { id, token } = await invitePerson(app, owner, 'MANAGER', email)
      const { passwords } = app.deps
      const [hash, verify] = [spyOn(passwords, 'hash'), spyOn(passwords, 'verify')]
      const answers = []
      for (const body of [{}, { password: 'short' }, { password: 'password1234' }, { password: staffPassword, name: 'Ann' }])
        answers.push(await accept(app, { token, ...body }))
      answers.push(await accept(app, { token, password: staffPassword }))
      const work = [hash.mock.calls.length, verify.mock.calls.length]
      for (const one of [hash, verify]) one.mockRestore()
      const { email: _, ...record } = (await app.call('GET', `/shops/v2/staff/${id}`, { token: owner.token })).body
      outcomes.push({
        work,
        answers: answers.map(({ status, body: { email: __, ...body } }) => [status, body]),
        record: { ...record, id: 'any' },
      })
      expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 200, 401])
    }
    expect(outcomes.slice(1)).toEqual([outcomes[0], outcomes[0]])
  })

  test('cannot be guessed by more wrong passwords than the login allows', async () => {
    await using app = await testApp()
    const [owner, other] = [await app.merchant(), await app.merchant()]
    for (let nth = 0; nth < 12; nth++) {
      const { token } = await invitePerson(app, owner, 'MANAGER', other.email)
      expect((await accept(app, { token, password: `${staffPassword} ${nth}` })).status).toBe(200)
    }
    expect((await login(app, other.email, other.password)).status).toBe(429)
  })

  test('is not revealed by a link from before a mail server was set, because the shop had that link', async () => {
    await using app = await testApp({ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'Souk <shop@example.com>' })
    const [{ shop }, { email }] = [await app.merchant(), await app.merchant()]
    const token = await app.deps.db.write(async (tx) => {
      const { member } = await storeInvitation(tx, app.deps, { shopId: shop.id, email, role: 'MANAGER', byMail: false })
      return issueToken(tx, app.deps, { purpose: 'INVITATION', subjectId: member.id, shopId: shop.id, email })
    })
    expect((await accept(app, { token, password: staffPassword })).status).toBe(200)
  })

  test('of a super admin joins the shop: their token works there in this role, and on operator routes as before', async () => {
    await using app = await testApp()
    const [owner, admin] = [await app.merchant(), await app.superAdmin()]
    expect((await app.call('GET', '/shops/v2', { token: admin.token })).status).toBe(403)
    const { token } = await invitePerson(app, owner, 'MANAGER', admin.email)
    expect((await accept(app, { token, password: admin.password })).status).toBe(200)
    expect((await listOf(app, owner))[1]).toMatchObject({ status: 'ACTIVE', userId: admin.id, role: 'MANAGER' })
    expect((await app.call('GET', '/shops/v2', { token: admin.token })).body.id).toBe(owner.shop.id)
    expect((await app.call('GET', '/shops/v2/staff', { token: admin.token })).status).toBe(403)
    expect((await app.call('GET', '/admin/shops', { token: admin.token })).status).toBe(200)
    expect((await app.call('GET', '/merchant/me', { token: admin.token })).body.shops).toMatchObject([{ role: 'MANAGER' }])
  })

  test('of a super admin with a wrong password joins nothing', async () => {
    await using app = await testApp()
    const [owner, admin] = [await app.merchant(), await app.superAdmin()]
    const { token } = await invitePerson(app, owner, 'MANAGER', admin.email)
    expect((await accept(app, { token, password: 'another password' })).status).toBe(200)
    expect((await listOf(app, owner))[1]).toMatchObject({ status: 'INVITED', userId: null })
    expect((await app.call('GET', '/shops/v2', { token: admin.token })).status).toBe(403)
  })

  test('of a customer is separate: a person with both has two accounts, and neither token works for the other', async () => {
    await using app = await testApp()
    const owner = await app.merchant()
    const customer = await customerIn(app, owner.shop)
    const person = await staffOf(app, owner, 'OWNER', customer.email)
    expect((await app.call('GET', '/shops/v2/staff', { token: customer.token })).status).toBe(403)
    expect((await app.call('GET', '/shops/v2/staff', { token: person.token })).status).toBe(200)
    expect((await app.call('GET', '/customer/me', { token: person.token })).status).toBe(403)
  })

  test('that works in several shops selects one by x-shop-id; the default is the shop that it joined first', async () => {
    await using app = await testApp()
    const [one, other, stranger] = [await app.merchant(), await app.merchant(), await app.merchant()]
    // `other` has its own shop and then joins the shop of `one`.
    const { token } = await invitePerson(app, one, 'READ_ONLY', other.email)
    app.clock.advance(1_000)
    await accept(app, { token, password: other.password })
    const shopIn = (id?: string) =>
      app.call('GET', '/shops/v2', { token: other.token, headers: id === undefined ? {} : { 'x-shop-id': id } })
    expect((await shopIn()).body.id).toBe(other.shop.id)
    expect((await shopIn(one.shop.id)).body.id).toBe(one.shop.id)
    expect([(await shopIn(stranger.shop.id)).status, (await shopIn('shop_none')).status]).toEqual([404, 404])
    const me = await app.call('GET', '/merchant/me', { token: other.token })
    expect(me.body.shops.map((shop: { id: string; role: string }) => [shop.id, shop.role])).toEqual([
      [other.shop.id, 'OWNER'],
      [one.shop.id, 'READ_ONLY'],
    ])
    // A role in one shop gives no rights in another.
    const invite = (shopId: string) =>
      app.call('POST', '/shops/v2/staff', {
        token: other.token,
        headers: { 'x-shop-id': shopId },
        body: { email: 'x@example.com', role: 'OWNER' },
      })
    expect([(await invite(one.shop.id)).status, (await invite(other.shop.id)).status]).toEqual([403, 201])
    const [ownRecord] = await listOf(app, other)
    for (const method of ['GET', 'DELETE']) {
      const path = `/shops/v2/staff/${ownRecord.id}`
      expect((await app.call(method, path, { token: one.token })).status).toBe(404)
    }
  })
})

describe('a role', () => {
  test('takes effect at the next request, in this and another process, and so does its removal', async () => {
    await using app = await testApp()
    const owner = await app.merchant()
    const person = await staffOf(app, owner, 'OWNER')
    const readKeys = () => app.call('GET', '/shops/v2/private-key', { token: person.token })
    const readOrders = () => app.call('GET', '/v2/orders', { token: person.token })
    expect([(await readKeys()).status, (await readOrders()).status]).toEqual([200, 200])
    await using otherProcess = await openCommandInstance(app)
    const by = { actor: { id: owner.id }, shop: owner.shop }
    const readMembership = () => otherProcess.deps.identity.membershipOf(person.id, undefined)
    expect((await readMembership())?.role).toBe('OWNER')
    await app.call('PATCH', `/shops/v2/staff/${person.staffId}`, { token: owner.token, body: { role: 'READ_ONLY' } })
    expect([(await readKeys()).status, (await readOrders()).status]).toEqual([403, 200])
    expect((await readMembership())?.role).toBe('READ_ONLY')
    await changeStaff(otherProcess.deps, by, person.staffId, { role: 'MANAGER' })
    expect([(await readKeys()).status, (await app.call('GET', '/discounts', { token: person.token })).status]).toEqual([403, 200])
    await removeStaff(otherProcess.deps, by, person.staffId)
    expect([(await readKeys()).status, (await readOrders()).status]).toEqual([404, 404])
    expect(await readMembership()).toBeUndefined()
    // The account still exists and belongs to no shop.
    const me = await app.call('GET', '/merchant/me', { token: person.token })
    expect([me.status, me.body.shops, me.body.kyb]).toEqual([200, [], null])
    expect((await login(app, person.email, person.password)).status).toBe(200)
    expect((await app.call('DELETE', '/auth/sessions', { token: person.token })).status).toBe(204)
  })

  test('is read inside the write that changes staff, so that a person who has just lost the role changes nothing', async () => {
    await using app = await testApp()
    const owner = await app.merchant()
    const [manager, other] = [await staffOf(app, owner, 'MANAGER'), await staffOf(app, owner, 'READ_ONLY')]
    const as = (id: string) => ({ actor: { id }, shop: owner.shop })
    // As if the route had admitted them as OWNER just before.
    await expect(changeStaff(app.deps, as(manager.id), manager.staffId, { role: 'OWNER' })).rejects.toMatchObject({ kind: 'FORBIDDEN' })
    await expect(removeStaff(app.deps, as(manager.id), other.staffId)).rejects.toMatchObject({ kind: 'FORBIDDEN' })
    await expect(inviteStaff(app.deps, as(other.id) as never, { email: 'x@example.com', role: 'OWNER' })).rejects.toMatchObject({
      kind: 'FORBIDDEN',
    })
    await expect(removeStaff(app.deps, as('mer_none'), other.staffId)).rejects.toMatchObject({ kind: 'NOT_FOUND' })
    expect(await listOf(app, owner)).toHaveLength(3)
  })

  test('that ends while a request body is still arriving makes the request fail', async () => {
    await using app = await testApp()
    const owner = await app.merchant()
    const person = await staffOf(app, owner, 'MANAGER')
    const sendSlowly = async (betweenChunks: () => Promise<unknown>) => {
      const chunks = ['{ "title":', ' "Lamp" }']
      const body = new ReadableStream({
        async pull(controller) {
          if (chunks.length === 1) await betweenChunks()
          const chunk = chunks.shift()
          if (chunk === undefined) controller.close()
          else controller.enqueue(new TextEncoder().encode(chunk))
        },
      })
      const headers = { authorization: `Bearer ${person.token}`, 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
      const request = new Request('http://localhost/product-v2', { method: 'POST', headers, body })
      return (await app.edge.fetch(request, { requestIP: () => ({ address: '127.0.0.1' }) })).status
    }
    expect(await sendSlowly(async () => app.clock.advance(1_500))).toBe(201)
    const by = { actor: { id: owner.id }, shop: owner.shop }
    const demoted = async () => {
      app.clock.advance(1_500)
      await changeStaff(app.deps, by, person.staffId, { role: 'READ_ONLY' })
    }
    expect(await sendSlowly(demoted)).toBe(403)
    await changeStaff(app.deps, by, person.staffId, { role: 'MANAGER' })
    const removed = async () => {
      app.clock.advance(1_500)
      await removeStaff(app.deps, by, person.staffId)
    }
    expect(await sendSlowly(removed)).toBe(404)
    expect((await app.call('GET', '/product-v2', { token: owner.token })).body.total).toBe(1)
  })

  test('of the only owner cannot change, and the owner cannot be removed; an invited owner does not count', async () => {
    await using app = await testApp()
    const owner = await app.merchant()
    const [first] = await listOf(app, owner)
    const path = `/shops/v2/staff/${first.id}`
    const { token } = owner
    await invitePerson(app, owner, 'OWNER')
    for (const answer of [await app.call('DELETE', path, { token }), await app.call('PATCH', path, { token, body: { role: 'MANAGER' } })])
      expect(answer.body).toMatchObject({ statusCode: 409, code: 'last_owner', message: expect.stringContaining('only OWNER') })
    expect((await app.call('PATCH', path, { token, body: { role: 'OWNER' } })).status).toBe(200)
    const other = await staffOf(app, owner, 'OWNER')
    expect((await app.call('DELETE', path, { token: other.token })).status).toBe(204)
    expect((await app.call('GET', '/shops/v2', { token })).status).toBe(404)
    expect((await app.call('GET', '/shops/v2/private-key', { token: other.token })).status).toBe(200)
  })

  test('two owners who remove each other concurrently leave one', async () => {
    await using app = await testApp()
    const owner = await app.merchant()
    const other = await staffOf(app, owner, 'OWNER')
    const [first] = await listOf(app, owner)
    const answers = await Promise.all([
      app.call('DELETE', `/shops/v2/staff/${other.staffId}`, { token: owner.token }),
      app.call('DELETE', `/shops/v2/staff/${first.id}`, { token: other.token }),
    ])
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    expect(await app.deps.db.read.select().from(staff).where(eq(staff.shopId, owner.shop.id))).toHaveLength(1)
  })

  test('must be one of four, and names must be printable', async () => {
    await using app = await testApp()
    const owner = await app.merchant()
    const invite = (body: object) => app.call('POST', '/shops/v2/staff', { token: owner.token, body })
    for (const role of ['SUPER_ADMIN', 'owner', '', null, ['OWNER']])
      expect((await invite({ email: 'a@example.com', role })).status).toBe(400)
    for (const email of ['', 'a', 'a@b\r\nbcc: c@d.example', 'a b@example.com', `${'a'.repeat(250)}@example.com`])
      expect([email, (await invite({ email, role: 'MANAGER' })).status]).toEqual([email, 400])
    expect((await invite({ email: 'a@example.com', role: 'MANAGER', userId: owner.id })).body.message).toBe('unknown field: userId')
    const { token } = await invitePerson(app, owner, 'MANAGER')
    for (const name of ['', ' ', 'a\nb', '\u202eevil', 'x'.repeat(201)])
      expect([name, (await accept(app, { token, password: staffPassword, name })).status]).toEqual([name, 400])
    expect((await accept(app, { token, password: staffPassword, role: 'OWNER' })).body.message).toBe('unknown field: role')
    expect((await accept(app, { token, password: staffPassword, name: '<b>Ann</b> =1+1' })).status).toBe(200)
    expect((await listOf(app, owner))[1].name).toBe('<b>Ann</b> =1+1')
  })
})

describe('staff records', () => {
  test('are limited: a hundred people per shop, fifty invitations an hour, fifty token attempts per address', async () => {
    await using app = await testApp()
    const owner = await app.merchant()
    const invite = (nth: number) =>
      app.call('POST', '/shops/v2/staff', { token: owner.token, body: { email: `a${nth}@example.com`, role: 'READ_ONLY' } })
    const first = await Promise.all(Array.from({ length: 50 }, (_, nth) => invite(nth)))
    expect(first.map(({ status }) => status)).toEqual(Array(50).fill(201))
    const limited = await invite(50)
    expect([limited.status, Number(limited.headers.get('retry-after')) > 0]).toEqual([429, true])
    app.clock.advance(60 * 60_000)
    owner.token = await freshToken(app, owner.id)
    const second = await Promise.all(Array.from({ length: 50 }, (_, nth) => invite(50 + nth)))
    expect(second.filter(({ status }) => status === 201)).toHaveLength(49)
    expect(second.filter(({ status }) => status === 409)).toHaveLength(1)

    const from = '203.0.113.7'
    const guess = () => accept(app, { token: 'A'.repeat(43) }, from)
    for (let nth = 0; nth < 50; nth++) expect((await guess()).status).toBe(401)
    expect((await guess()).status).toBe(429)
  })

  test('have audit rows with the person who acted, without addresses and names', async () => {
    await using app = await testApp()
    const owner = await app.merchant()
    const person = await staffOf(app, owner, 'MANAGER', 'secret.person@example.com')
    await app.call('PATCH', `/shops/v2/staff/${person.staffId}`, { token: owner.token, body: { role: 'FULFILMENT' } })
    await app.call('DELETE', `/shops/v2/staff/${person.staffId}`, { token: owner.token })
    const rows = await app.deps.db.read.select().from(auditLog).orderBy(auditLog.id)
    const staffRows = rows
      .filter(({ action }) => action.startsWith('staff.'))
      .map(({ actor, action, before, after }) => [actor, action, before, after])
    const invitedFields = { email: '[redacted]', status: 'INVITED' }
    expect(staffRows).toEqual([
      [owner.id, 'staff.invited', null, { ...invitedFields, role: 'MANAGER' }],
      [person.id, 'staff.accepted', null, null],
      [
        person.id,
        'staff.joined',
        { email: '[redacted]', status: 'INVITED', userId: null },
        { email: null, status: 'ACTIVE', userId: person.id },
      ],
      [owner.id, 'staff.changed', { role: 'MANAGER' }, { role: 'FULFILMENT' }],
      [owner.id, 'staff.removed', { role: 'FULFILMENT', userId: person.id, status: 'ACTIVE' }, null],
    ])
    expect(JSON.stringify(rows)).not.toContain('secret.person')
    for (const { subject, shopId, action } of rows)
      if (action.startsWith('staff.')) expect([subject, shopId]).toEqual([person.staffId, owner.shop.id])
  })

  test('have a version, and a change of an older version is 412', async () => {
    await using app = await testApp()
    const owner = await app.merchant()
    const { staffId } = await staffOf(app, owner, 'MANAGER')
    const path = `/shops/v2/staff/${staffId}`
    const { token } = owner
    const tag = (await app.call('GET', path, { token })).headers.get('etag') ?? ''
    const change = (role: string) => app.call('PATCH', path, { token, body: { role }, headers: { 'if-match': tag } })
    expect([(await change('READ_ONLY')).status, (await change('MANAGER')).status]).toEqual([200, 412])
    expect((await app.call('DELETE', path, { token, headers: { 'if-match': tag } })).status).toBe(412)
  })
})

test('the invitation page accepts by a form, and shows errors of the password', async () => {
  await using app = await testApp()
  const owner = await app.merchant()
  const { token, email } = await invitePerson(app, owner, 'READ_ONLY')
  const path = `/pages/invitation/${token}`
  const send = (fields: Record<string, string>) =>
    app.call('POST', path, {
      raw: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
  expect((await app.call('GET', path)).text).toContain('<form method="post">')
  for (const password of ['', 'short', 'password1234']) expect((await send({ password, name: 'Ann' })).text).toContain('role="alert"')
  const accepted = await send({ password: staffPassword, name: ' Ann ' })
  expect([accepted.status, accepted.text.includes('role="alert"'), accepted.text.includes('Invitation accepted')]).toEqual([
    200,
    false,
    true,
  ])
  expect((await send({ password: staffPassword })).text).toContain('This link has expired')
  expect((await listOf(app, owner))[1]).toMatchObject({ email, name: 'Ann', status: 'INVITED' })
  expect((await login(app, email, staffPassword)).status).toBe(200)
  expect((await listOf(app, owner))[1]).toMatchObject({ email, name: 'Ann', status: 'ACTIVE' })
})
