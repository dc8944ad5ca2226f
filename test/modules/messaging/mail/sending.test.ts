/** Tests sending mail through a real mail server, and its failures. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { openMailServer } from '../../../../src/clients/smtp.ts'
import { MailNotTaken, type OutgoingMail } from '../../../../src/core/mail-server.ts'
import { failuresMax } from '../../../../src/lib/breaker.ts'
import { createMailSender } from '../../../../src/modules/messaging/mail/delivery.ts'
import { mailLanguages, mailTemplates, retryPausesMs, slotsMax, templateNames } from '../../../../src/modules/messaging/mail/domain.ts'
import { deleteOldMails, logMailStatus, queueMail } from '../../../../src/modules/messaging/mail/index.ts'
import { sampleData } from '../../../../src/modules/messaging/mail/samples.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { mailServer, rawMailServer, smtpError } from '../../../support/mail-server.ts'
import { queueTestMail, mailRows as rows, sendMails as send } from '../../../support/mails.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { certificate } from '../../../support/tls.ts'

setDefaultTimeout(longTestMs)

const minute = 60_000
const day = 24 * 60 * minute
/** A port that no test uses. The port of a closed server may already belong to another process. */
const noServer = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'shop@souk.example', PUBLIC_URL: 'https://souk.example' }

test('every template is delivered complete in every language, and its personal data is then removed', async () => {
  await using server = await mailServer()
  await using app = await testApp(server.settings)
  // These mails have no order.
  app.deps.mailPreparers.clear()
  const { shop } = await app.merchant()
  const sample = sampleData('USD')
  for (const language of mailLanguages)
    for (const template of templateNames)
      await app.deps.db.write((tx) =>
        queueMail(tx, app.deps, {
          key: `${template}:${language}`,
          shopId: shop.id,
          to: 'ann@example.com',
          template,
          data: sample[template],
          language,
        }),
      )
  await send(app)
  expect(server.errors).toEqual([])
  expect(server.received.length).toBe(mailLanguages.length * templateNames.length)
  for (const { headers, text, html, to, from } of server.received) {
    expect(to).toEqual(['ann@example.com'])
    expect(from).toBe('shop@souk.example')
    expect(headers.get('from')).toBe('"shop-1" <shop@souk.example>')
    expect(headers.get('to')).toBe('ann@example.com')
    expect(headers.get('subject')?.length).toBeGreaterThan(5)
    expect(headers.get('message-id')).toMatch(/^<mail_[0-9a-z]{26}@souk\.example>$/)
    expect(headers.get('auto-submitted')).toBe('auto-generated')
    expect(text.length).toBeGreaterThan(40)
    expect(html).toContain(`lang="${headers.get('content-language')}"`)
    expect(`${text}${html}`).not.toMatch(/undefined|\[object|NaN/)
  }
  for (const row of await rows(app)) expect(row).toMatchObject({ status: 'SENT', sealed: null, lastError: null, attempts: 1 })
  // Mails share connections. How many connections are open at once is random.
  expect(server.connections()).toBeLessThan(server.received.length)
})

test('a mail with the same key is queued once, and a rolled-back write queues none', async () => {
  await using server = await mailServer()
  await using app = await testApp(server.settings)
  await queueTestMail(app, 'test', {})
  await queueTestMail(app, 'test', {}, { to: 'other@example.com' })
  const failing = app.deps.db.write(async (tx) => {
    await queueMail(tx, app.deps, { key: 'never', shopId: null, to: 'a@b.example', template: 'test', data: {} })
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  await send(app)
  expect(server.received.map(({ to }) => to)).toEqual([['ann@example.com']])
})

describe('souk without a mail server', () => {
  test('without a mail server, mail is dropped and counted, and the start logs mail.off', async () => {
    await using app = await testApp()
    await queueTestMail(app, 'test', {})
    await logMailStatus(app.deps)
    expect(await rows(app)).toEqual([])
    expect(app.logged.map(({ event }) => event)).toContain('mail.off')
    const { text } = await app.call('GET', '/metrics', { headers: { host: 'localhost' } })
    expect(text).toContain('souk_mails_total{result="dropped"} 1')
    await app.deps.mails.run()
  })

  test('mail queued before the mail server was removed is deleted eventually', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    await queueTestMail(app, 'test', {})
    const withoutServer = { ...app.deps, config: { ...app.deps.config, smtpUrl: undefined }, mailServer: undefined }
    await deleteOldMails(withoutServer)
    expect((await rows(app))[0]).toMatchObject({ status: 'PENDING' })
    app.clock.advance(day)
    await deleteOldMails(withoutServer)
    expect((await rows(app))[0]).toMatchObject({ status: 'DROPPED', sealed: null })
  })
})

describe('SMTP responses', () => {
  const startRefusingServer = (at: 'onMailFrom' | 'onRcptTo' | 'onData', code: number) =>
    mailServer({
      ...(at === 'onData'
        ? {
            onMail() {
              throw smtpError(code)
            },
          }
        : {
            [at]: (_address: unknown, _session: unknown, done: (error: Error) => void) =>
              done(smtpError(code, `<ann@example.com> ${code}`)),
          }),
    })

  test.each([
    ['onRcptTo', 550, 'FAILED', '550 at RCPT TO', 1],
    ['onRcptTo', 450, 'PENDING', '450 at RCPT TO', 1],
    ['onData', 554, 'FAILED', '554 at DATA', 1],
    ['onData', 452, 'PENDING', '452 at DATA', 1],
    // The sender address was refused, which affects every mail, so it counts against none.
    ['onMailFrom', 550, 'PENDING', '550 at MAIL FROM', 0],
    ['onMailFrom', 451, 'PENDING', '451 at MAIL FROM', 0],
    ['onMailFrom', 552, 'FAILED', '552 at MAIL FROM', 1],
    // This response closes the connection.
    ['onRcptTo', 421, 'PENDING', '421 at CONN', 0],
  ] as const)('the SMTP response of %s with %d sets a mail to %s', async (at, code, status, lastError, attempts) => {
    await using server = await startRefusingServer(at, code)
    await using app = await testApp(server.settings)
    await queueTestMail(app, 'test', {})
    await send(app)
    const [row] = await rows(app)
    expect(row).toMatchObject({ status, lastError, attempts })
    expect(row?.sealed === null).toBe(status === 'FAILED')
    expect(JSON.stringify([row?.lastError, app.logged])).not.toContain('ann@')
  })

  test('a greylisted mail is retried and arrives', async () => {
    const seen: string[] = []
    await using server = await mailServer({
      onRcptTo({ address }, _session, done) {
        seen.push(address)
        done(seen.length <= 2 ? smtpError(451, 'greylisted') : null)
      },
    })
    await using app = await testApp(server.settings)
    await queueTestMail(app, 'test', {})
    for (let nth = 0; nth < 3; nth++) {
      await send(app)
      await send(app)
      app.clock.advance((retryPausesMs[nth] ?? 0) * 1.2)
    }
    expect(seen.length).toBe(3)
    expect(server.received.length).toBe(1)
    expect((await rows(app))[0]).toMatchObject({ status: 'SENT', attempts: 3 })
  })

  test('a mail fails when its lifetime ends', async () => {
    await using server = await startRefusingServer('onRcptTo', 450)
    await using app = await testApp(server.settings)
    await queueTestMail(app, 'password-reset', {})
    app.deps.mailPreparers.clear()
    for (let minutes = 0; minutes < 31; minutes += 1) {
      await send(app)
      app.clock.advance(minute)
    }
    await send(app)
    expect((await rows(app))[0]).toMatchObject({ status: 'FAILED', sealed: null })
  })
})

describe('log events of mails', () => {
  const eventsOf = (app: TestApp, event: string) => app.logged.filter((line) => line.event === event)

  test('a mail that the server refuses for good is logged as mail.not_sent once, without its recipient', async () => {
    await using server = await mailServer({ onRcptTo: (_address, _session, done) => done(smtpError(550)) })
    await using app = await testApp(server.settings)
    await queueTestMail(app, 'test', {})
    await send(app)
    await send(app)
    const [row] = await rows(app)
    const fields = { mail: row?.id, template: 'test', why: '550 at RCPT TO' }
    expect(eventsOf(app, 'mail.not_sent')).toEqual([{ level: 'warn', event: 'mail.not_sent', fields }])
    const { text } = await app.call('GET', '/metrics')
    expect(text).toContain('souk_mails_total{result="dead"} 1\n')
  })

  test('a mail that is refused for the time being is not logged as mail.not_sent', async () => {
    await using server = await mailServer({ onRcptTo: (_address, _session, done) => done(smtpError(450)) })
    await using app = await testApp(server.settings)
    await queueTestMail(app, 'test', {})
    await send(app)
    expect(eventsOf(app, 'mail.not_sent')).toEqual([])
  })

  test('mails that waited too long are logged as mail.given_up with their number', async () => {
    await using app = await testApp(noServer)
    for (let nth = 0; nth < 3; nth++) await queueTestMail(app, 'password-reset', {}, { key: `${nth}` })
    app.clock.advance(30 * minute - 1)
    await deleteOldMails(app.deps)
    expect(eventsOf(app, 'mail.given_up')).toEqual([])
    app.clock.advance(1)
    await deleteOldMails(app.deps)
    const fields = { mails: 3, why: 'waited too long' }
    expect(eventsOf(app, 'mail.given_up')).toEqual([{ level: 'warn', event: 'mail.given_up', fields }])
    expect((await rows(app)).map(({ status }) => status)).toEqual(['FAILED', 'FAILED', 'FAILED'])
  })

  test('the start logs mail.server_not_ready with the reason, or mail.ready', async () => {
    await using offline = await testApp(noServer)
    await logMailStatus(offline.deps)
    expect(eventsOf(offline, 'mail.server_not_ready')).toMatchObject([{ level: 'error', fields: { why: expect.any(String) } }])
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    await logMailStatus(app.deps)
    expect([eventsOf(app, 'mail.server_not_ready').length, eventsOf(app, 'mail.ready').length]).toEqual([0, 1])
  })

  test('the start logs mail.links_lead_here only without PUBLIC_URL', async () => {
    await using server = await mailServer()
    const { PUBLIC_URL: _, ...unnamed } = server.settings
    for (const [settings, count] of [
      [unnamed, 1],
      [server.settings, 0],
    ] as const) {
      await using app = await testApp(settings)
      await logMailStatus(app.deps)
      expect(eventsOf(app, 'mail.links_lead_here').length).toBe(count)
    }
  })
})

test('the metrics show waiting mails, their age and delay, and whether the server is paused', async () => {
  await using app = await testApp(noServer)
  const readFigures = async () => {
    app.clock.advance(15_000)
    const { text } = await app.call('GET', '/metrics')
    const sampleOf = (name: string) => Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1])
    return ['souk_mails_waiting', 'souk_mail_oldest_age_seconds', 'souk_mail_overdue_seconds', 'souk_mail_server_up'].map(sampleOf)
  }
  expect(await readFigures()).toEqual([0, 0, 0, 1])
  await queueTestMail(app, 'test', {}, { key: 'first' })
  app.clock.advance(minute)
  for (let nth = 0; nth < failuresMax; nth++) await queueTestMail(app, 'test', {}, { key: `${nth}` })
  expect(await readFigures()).toEqual([failuresMax + 1, 75, 75, 1])
  await send(app)
  const [waiting, age, , isUp] = await readFigures()
  expect([waiting, age, isUp]).toEqual([failuresMax + 1, 90, 0])
})

describe('a mail server that fails', () => {
  test('an unreachable mail server costs no attempts, opens the breaker, and gets all mail when it is back', async () => {
    await using app = await testApp(noServer)
    for (let nth = 0; nth < 20; nth++) await queueTestMail(app, 'test', {}, { key: `${nth}` })
    await send(app)
    expect(app.deps.mailHealth.breaker.state).toBe('OPEN')
    expect((await rows(app)).every(({ status, attempts }) => status === 'PENDING' && attempts === 0)).toBe(true)
    expect((await app.call('GET', '/health/ready')).body.checks).toContainEqual({ name: 'mailServerAnswers', ok: false })
    expect((await app.call('GET', '/health/ready')).status).toBe(200)
    app.clock.advance(minute)
    await send(app)
    expect(app.logged.filter(({ event }) => event === 'mail.server_away').length).toBeGreaterThanOrEqual(2)
    await using returned = await mailServer()
    const deps = { ...app.deps, mailServer: openMailServer(returned.url) }
    const mails = createMailSender(deps)
    app.clock.advance(10 * minute)
    await mails.run()
    await mails.idle()
    expect(returned.received.length).toBe(20)
    expect(app.deps.mailHealth.breaker.state).toBe('CLOSED')
    expect(app.logged.filter(({ event }) => event === 'mail.server_back').length).toBe(1)
    // The server waits for open connections when it stops.
    deps.mailServer.close()
  })

  test.each([
    ['sends nothing', () => undefined],
    ['sends a byte now and then', (socket: import('node:net').Socket) => void setInterval(() => socket.write('2'), 20).unref()],
  ] as const)('a mail server that %s is cut off at the time limit, and the mail stays pending', async (_, talk) => {
    using server = await rawMailServer(talk)
    await using app = await testApp(server.settings)
    app.deps.mailLimits.attemptMs = 150
    await queueTestMail(app, 'test', {})
    await send(app)
    expect((await rows(app))[0]).toMatchObject({ status: 'PENDING', attempts: 0, lastError: 'silent' })
  })

  test('a mail whose connection breaks after DATA is sent again with the same Message-ID', async () => {
    const ids: (string | undefined)[] = []
    using server = await rawMailServer((socket) => {
      socket.write('220 here\r\n')
      let mail: string | undefined
      socket.on('data', (bytes) => {
        const command = bytes.toString()
        if (mail !== undefined || command.includes('Message-ID')) {
          mail = `${mail ?? ''}${command}`
          if (!mail.endsWith('\r\n.\r\n')) return
          ids.push(/^Message-ID: (.*)\r$/m.exec(mail)?.[1])
          mail = undefined
          return ids.length === 1 ? socket.destroy() : socket.write('250 accepted\r\n')
        }
        return socket.write(command.startsWith('DATA') ? '354 go on\r\n' : command.startsWith('QUIT') ? '221 bye\r\n' : '250 fine\r\n')
      })
    })
    await using app = await testApp(server.settings)
    await queueTestMail(app, 'test', {})
    await send(app)
    expect((await rows(app))[0]).toMatchObject({ status: 'PENDING', attempts: 1, lastError: 'the connection was lost' })
    app.clock.advance(2 * minute)
    await send(app)
    expect((await rows(app))[0]).toMatchObject({ status: 'SENT', attempts: 2 })
    expect(ids[0]).toMatch(/^<mail_/)
    expect(ids[1]).toBe(ids[0])
  })

  test('a mail that the server never answers counts an attempt, and other mail is sent meanwhile', async () => {
    await using server = await mailServer({
      onMail: ({ to }) => (to.includes('poison@example.com') ? new Promise(() => undefined) : undefined),
    })
    await using app = await testApp(server.settings)
    const { mailServer: real } = app.deps
    if (!real) throw new Error('no mail server')
    // Only this mail has a short time limit. It grows each time that the mail was not even sent.
    let poisonMs = 150
    const mails = createMailSender({
      ...app.deps,
      mailServer: { ...real, send: (mail, withinMs) => real.send(mail, mail.to === 'poison@example.com' ? poisonMs : withinMs) },
    })
    await queueTestMail(app, 'test', {}, { key: 'poison', to: 'poison@example.com' })
    for (let nth = 0; nth < 5; nth++) await queueTestMail(app, 'test', {}, { key: `${nth}` })
    const poisonMail = async () => (await rows(app)).find(({ key }) => key === 'poison')
    for (; (await poisonMail())?.attempts !== 1; poisonMs *= 2, app.clock.advance(minute)) {
      await mails.run()
      await mails.idle()
      expect(server.received.length).toBe(5)
    }
    expect(await poisonMail()).toMatchObject({ status: 'PENDING', attempts: 1, lastError: 'silent' })
  })
})

describe('transport security of mail', () => {
  const mail: OutgoingMail = {
    messageId: 'mail_1@souk.example',
    from: { name: undefined, address: 'shop@souk.example' },
    to: 'ann@example.com',
    replyTo: undefined,
    subject: 'Hello',
    text: 'Hello',
    html: '<p>Hello</p>',
    language: 'en',
    at: 0,
  }
  const remote = { isHere: false, tls: { ca: certificate, servername: 'hook.example' } }
  async function trySend(url: string, options: Parameters<typeof openMailServer>[1]): Promise<string> {
    const server = openMailServer(url, options)
    try {
      await server.send(mail, minute)
      return 'accepted'
    } catch (error) {
      return error instanceof MailNotTaken ? `${error.failure}: ${error.message}` : String(error)
    } finally {
      server.close()
    }
  }

  test('a remote mail server must offer STARTTLS with a valid certificate before any mail is sent', async () => {
    await using withoutStartTls = await mailServer()
    await using withStartTls = await mailServer({ disabledCommands: [] })
    expect(await trySend(withoutStartTls.url, remote)).toMatch(/^server: (STARTTLS|cannot)/)
    const untrusted = 'server: the certificate of 127.0.0.1 is not trusted: it is'
    expect(await trySend(withStartTls.url, { isHere: false })).toBe(`${untrusted} self-signed`)
    expect(await trySend(withStartTls.url, { isHere: false, tls: { ca: certificate, servername: 'other.example' } })).toBe(
      `${untrusted} for another name`,
    )
    expect([withoutStartTls.received.length, withStartTls.received.length]).toEqual([0, 0])
    expect(await trySend(withStartTls.url, remote)).toBe('accepted')
    expect(withStartTls.received.map(({ secure }) => secure)).toEqual([true])
    expect(await trySend(`${withoutStartTls.url}?tls=off`, { isHere: false })).toBe('accepted')
  })

  test('smtps uses TLS from the start and verifies the certificate', async () => {
    await using server = await mailServer({ secure: true })
    const url = server.url.replace('smtp:', 'smtps:')
    expect(await trySend(url, { isHere: false })).toBe('server: the certificate of 127.0.0.1 is not trusted: it is self-signed')
    expect(await trySend(url, remote)).toBe('accepted')
    expect(server.received[0]?.secure).toBe(true)
  })

  test('a mail server on the same machine may have a self-signed certificate', async () => {
    await using server = await mailServer({ disabledCommands: [] })
    expect(await trySend(server.url, {})).toBe('accepted')
    expect(server.received[0]?.secure).toBe(true)
  })

  test('a refused SMTP login is reported without the password', async () => {
    await using server = await mailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        username === 'me@souk' && password === 'p@ss/1' ? done(null, { user: 'me' }) : done(smtpError(535)),
    })
    const as = (credentials: string) => server.url.replace('://', `://${credentials}@`)
    expect(await trySend(as('me%40souk:wrong'), {})).toBe('server: refuses the login of SMTP_URL (535)')
    expect(await trySend(as('me%40souk:p%40ss%2F1'), {})).toBe('accepted')
  })
})

describe('lanes of the mail queue', () => {
  const queueMany = async (app: TestApp, shopId: string, count: number) => {
    for (let from = 0; from < count; from += 100)
      await app.deps.db.write(async (tx) => {
        for (let nth = from; nth < from + 100; nth++)
          await queueMail(tx, app.deps, {
            key: `${shopId}:${nth}`,
            shopId,
            to: `shopper${nth}@example.com`,
            template: 'refund-made',
            data: sampleData('USD')['refund-made'],
          })
      })
  }

  test('hundreds of mails to a slow server delay neither another shop nor a requested mail of the same shop', async () => {
    const release: (() => void)[] = []
    let open = false
    await using server = await mailServer({ onMail: () => (open ? undefined : new Promise<void>((resolve) => release.push(resolve))) })
    await using app = await testApp(server.settings)
    const [busy, quiet] = [await app.merchant(), await app.merchant()]
    await queueMany(app, busy.shop.id, 300)
    await app.deps.mails.run()
    while (release.length < slotsMax / 2) await new Promise((resolve) => setImmediate(resolve))
    // All deliveries of the busy shop hang now.
    await queueTestMail(app, 'refund-made', sampleData('USD')['refund-made'], {
      key: 'quiet',
      shopId: quiet.shop.id,
      to: 'quiet@example.com',
    })
    await queueTestMail(app, 'email-verify', { token: 'A'.repeat(43) }, { key: 'awaited', shopId: busy.shop.id, to: 'awaited@example.com' })
    await app.deps.mails.run()
    while (release.length < slotsMax / 2 + 2) await new Promise((resolve) => setImmediate(resolve))
    for (const one of release.slice(slotsMax / 2)) one()
    await server.waitForMails(2)
    expect(server.received.map(({ to: [to] }) => to).sort()).toEqual(['awaited@example.com', 'quiet@example.com'])
    open = true
    for (const one of release) one()
    await app.deps.mails.idle()
    expect(server.received.length).toBe(302)
    expect(new Set(server.received.map(({ headers }) => headers.get('message-id'))).size).toBe(302)
  })

  test('two processes send each mail once', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const { shop } = await app.merchant()
    await queueMany(app, shop.id, 200)
    const another = openMailServer(server.url)
    const other = createMailSender({ ...app.deps, mailServer: another })
    await Promise.all([app.deps.mails.run(), other.run()])
    await Promise.all([app.deps.mails.idle(), other.idle()])
    another.close()
    expect(server.received.length).toBe(200)
    expect(new Set(server.received.map(({ to: [to] }) => to)).size).toBe(200)
  })

  test('a mail claimed by a killed process is sent by the next one when the claim expires', async () => {
    await using server = await mailServer()
    const app = await testApp(server.settings)
    await queueTestMail(app, 'test', {})
    const hanging = createMailSender({
      ...app.deps,
      mailServer: { send: () => new Promise(() => undefined), verify: async () => {}, close() {} },
    })
    await hanging.run()
    await app.abandon()
    await using next = await testApp(server.settings, { database: app.database, startAt: app.clock.now() })
    await send(next)
    expect(server.received.length).toBe(0)
    next.clock.advance(2 * minute)
    await send(next)
    expect(server.received.length).toBe(1)
    await app.database.drop()
  })
})

test('a finished mail is deleted after a month', async () => {
  await using server = await mailServer()
  await using app = await testApp(server.settings)
  await queueTestMail(app, 'test', {})
  await send(app)
  app.clock.advance(29 * day)
  await deleteOldMails(app.deps)
  expect((await rows(app)).length).toBe(1)
  app.clock.advance(2 * day)
  await deleteOldMails(app.deps)
  expect((await rows(app)).length).toBe(0)
})

test('the mail breaker opens after five failures, and every template has a lifetime', () => {
  expect(failuresMax).toBe(5)
  for (const { lifeMs } of Object.values(mailTemplates)) expect(lifeMs).toBeGreaterThan(0)
})
